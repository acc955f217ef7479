package io.foliot.store.rocksdb;

import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.DamagedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A check that reads RocksDB's log before RocksDB does, to distinguish a torn tail from a loss.
 *
 * <p>After a power loss the log may end in a commit that was under way: any part of its bytes may be missing. That is
 * no loss, because its callers never got a result. Damage anywhere else is a loss. No recovery mode of RocksDB makes
 * this distinction: "point in time" stops at the first damage and silently forgets all that follows; "tolerate
 * corrupted tail" refuses a tail whose last block is there and a middle one is not; "absolute consistency" refuses any
 * torn tail.
 *
 * <p>A torn tail differs from a loss because each commit is synced before the next begins: in a torn tail, no whole
 * commit begins after the damage. If one does, acknowledged commits are lost, and the store is not opened. A log that
 * is not the last one was whole when the next began, unless an earlier open has accepted its torn tail and recorded it.
 *
 * <p>Sequence numbers of entries have no gaps, so a log that is missing between two others is noticed.
 */
final class LogCheck {
  static final String ACCEPTED = "accepted-log-tails";

  /** The header of a log's record: the sequence number of its first entry, and the number of its entries. */
  private static final int SEQUENCE_AND_COUNT = 12;
  private static final int COUNT_AT = 8;
  private static final long NONE = -1;

  private final Path folder;
  private final Path rocks;
  private final List<String> tails = new ArrayList<>();

  // state of the log that is being read
  private final byte[] start = new byte[SEQUENCE_AND_COUNT];
  private int startBytes;
  private long next = NONE;

  LogCheck(Path folder, Path rocks) {
    this.folder = folder;
    this.rocks = rocks;
  }

  /**
   * Checks that no acknowledged commit is missing. Changes nothing.
   *
   * @param firstLog the number of the first log that is needed; some of the logs before it may be missing
   * @return the sequence number of the last entry in the logs, or -1 if there is none
   * @throws DamagedException if acknowledged commits are missing
   */
  long check(long firstLog) throws IOException {
    List<Path> logs = logs();
    Set<String> accepted = new HashSet<>(readAccepted());
    boolean isNeeded = false;
    for (Path log : logs) {
      boolean isLast = log.equals(logs.getLast());
      if (!isNeeded) {
        // RocksDB deletes logs that are no longer needed one by one, so a gap before this log is no loss.
        next = NONE;
      }
      isNeeded = number(log) >= firstLog;
      long end = check(log);
      if (end < 0) {
        continue;
      }
      String tail = log.getFileName() + " " + end;
      if (!isLast && !accepted.contains(tail)) {
        throw damaged(log, end, "a later log exists");
      }
      tails.add(tail);
    }
    return next == NONE ? NONE : next - 1;
  }

  /** Records which torn tails were accepted: RocksDB may leave these logs in place and begin another one. */
  void accept() throws IOException {
    if (!tails.equals(readAccepted())) {
      String lines = tails.isEmpty() ? "" : String.join("\n", tails) + "\n";
      OwnerOnly.replace(folder.resolve(ACCEPTED), lines.getBytes(StandardCharsets.US_ASCII));
    }
  }

  private List<Path> logs() throws IOException {
    if (!Files.isDirectory(rocks)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(rocks)) {
      // Names are numbers of six digits or more.
      return files.filter(file -> file.getFileName().toString().matches("[0-9]+\\.log"))
          .sorted(Comparator.comparingLong(LogCheck::number)).toList();
    }
  }

  private static long number(Path log) {
    String name = log.getFileName().toString();
    return Long.parseLong(name.substring(0, name.length() - ".log".length()));
  }

  private List<String> readAccepted() throws IOException {
    Path file = folder.resolve(ACCEPTED);
    return Files.exists(file) ? Files.readAllLines(file, StandardCharsets.US_ASCII) : List.of();
  }

  private static DamagedException damaged(Path log, long at, String because) {
    return new DamagedException("the log is damaged, and commits after the damage were acknowledged (" + because
        + "): log=" + log + ", at=" + at, null);
  }

  /**
   * Reads one log.
   *
   * @return the offset at which a torn tail begins, or -1 if the log is whole
   */
  private long check(Path log) throws IOException {
    byte[] block = new byte[LogFormat.BLOCK];
    startBytes = 0;
    long tornAt = -1;
    long blockAt = 0;
    try (InputStream in = Files.newInputStream(log)) {
      for (int length = in.readNBytes(block, 0, LogFormat.BLOCK); length > 0; length = in.readNBytes(block, 0,
          LogFormat.BLOCK)) {
        int end = tornAt < 0 ? wholeUpTo(log, block, length) : 0;
        if (end < length && beginsBehind(block, tornAt < 0 ? end + 1 : 0, length, tornAt >= 0)) {
          throw damaged(log, tornAt < 0 ? blockAt + end : tornAt, "a whole commit begins after it");
        }
        if (end < length && tornAt < 0) {
          tornAt = blockAt + end;
        }
        blockAt += length;
      }
    }
    return tornAt;
  }

  /** Returns the offset up to which the pieces of a block are whole. */
  private int wholeUpTo(Path log, byte[] block, int length) {
    int at = 0;
    while (at + LogFormat.HEADER <= length) {
      if (!LogFormat.isWhole(block, at, length)) {
        return at;
      }
      follow(log, block, at);
      at += LogFormat.HEADER + LogFormat.contentLength(block, at);
    }
    // Less than a header is left. In a full block it is padding; in the last block it is a torn header.
    return length == LogFormat.BLOCK || at == length ? length : at;
  }

  /** Ensures that a record begins with the entry after the last one of the record before it. */
  private void follow(Path log, byte[] block, int at) {
    int type = LogFormat.type(block, at);
    if (type < LogFormat.FULL || type > LogFormat.LAST) {
      return;
    }
    if (LogFormat.isBeginning(block, at)) {
      startBytes = 0;
    }
    int count = Math.min(SEQUENCE_AND_COUNT - startBytes, LogFormat.contentLength(block, at));
    System.arraycopy(block, at + LogFormat.HEADER, start, startBytes, count);
    startBytes += count;
    boolean ends = type == LogFormat.FULL || type == LogFormat.LAST;
    if (!ends || startBytes < SEQUENCE_AND_COUNT) {
      return;
    }
    long sequence = Long.reverseBytes(BytesReader.u64(start, 0));
    if (next != NONE && sequence != next) {
      throw new DamagedException("entries are missing in the log or between two logs: log=" + log + ", expected=" + next
          + ", found=" + sequence, null);
    }
    next = sequence + Integer.toUnsignedLong(Integer.reverseBytes(BytesReader.u32(start, COUNT_AT)));
  }

  /** Returns whether some whole piece with which a commit begins follows the damage. */
  private static boolean beginsBehind(byte[] block, int from, int length, boolean isNextBlock) {
    if (isNextBlock) {
      // The first piece begins with the block. Up to a torn piece, each piece begins where the one before it ends.
      int at = 0;
      while (at + LogFormat.HEADER <= length && LogFormat.isWhole(block, at, length)) {
        if (LogFormat.isBeginning(block, at)) {
          return true;
        }
        at += LogFormat.HEADER + LogFormat.contentLength(block, at);
      }
      return at < length && beginsBehind(block, at + 1, length, false);
    }
    // The length of the torn piece cannot be trusted, so the next piece may begin anywhere.
    for (int at = from; at + LogFormat.HEADER <= length; at++) {
      if (LogFormat.isBeginning(block, at) && LogFormat.isWhole(block, at, length)) {
        return true;
      }
    }
    return false;
  }
}
