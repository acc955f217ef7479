package io.foliot.store.rocksdb;

import io.foliot.core.store.format.DamagedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A check that reads RocksDB's log before RocksDB does, to distinguish a torn tail from a loss.
 *
 * <p>After a power loss the log may end in commits that were not yet synced: any part of their bytes may be missing.
 * Nothing is lost then, because no task in these commits was acknowledged. Damage anywhere else is a loss. No recovery
 * mode of RocksDB makes this distinction: "point in time" stops at the first damage and silently drops everything after
 * it; "tolerate corrupted tail" refuses a tail in which a middle block is missing but the last block exists; "absolute
 * consistency" refuses any torn tail.
 *
 * <p>Each commit records in the log the sequence number of the last entry that was synced when the commit was written
 * ({@link Batch#syncedSequence}). If a whole commit after the damage records that the damaged commit was synced,
 * acknowledged commits are lost, and the store is not opened. Otherwise the damage begins in a commit that was not yet
 * synced: either the last commit, or a commit that only moves index entries and is therefore written without a sync.
 * The commits after the damaged commit, in the same log or in the next, were not synced either, even if all their bytes
 * reached the disk.
 *
 * <p>Sequence numbers of entries have no gaps, so a log that is missing between two others is detected. If the damage
 * begins in the first commit of the first log, the sequence number of that commit is not known. The store is then not
 * opened if any whole commit follows the damage.
 */
final class LogCheck {
  private static final System.Logger LOG = System.getLogger(LogCheck.class.getName());
  private static final long NONE = -1;

  /**
   * The end of a log, from the first commit that a crash has damaged.
   *
   * @param log the file
   * @param from the offset at which the tail begins
   */
  private record Tail(Path log, long from) {}

  private final Path rocks;
  private final List<Tail> tails = new ArrayList<>();

  // the first bytes of the record that is being read
  private final byte[] head = new byte[Batch.HEAD];
  private int headBytes;
  private boolean isInRecord;
  private long recordAt;

  /** The sequence number that the next commit must have, or NONE if any number is valid. */
  private long next = NONE;
  /** The sequence number of the first unreadable entry: NONE if there is no such entry so far, 0 if not known. */
  private long missing = NONE;

  LogCheck(Path rocks) {
    this.rocks = rocks;
  }

  /**
   * Checks that no acknowledged commit is missing. Changes nothing.
   *
   * @param firstLog the number of the first log that is needed; logs with smaller numbers may be missing
   * @return the sequence number of the last entry in the logs, or -1 if there is none
   * @throws DamagedException if acknowledged commits are missing
   */
  long check(long firstLog) throws IOException {
    boolean isNeeded = false;
    for (Path log : logs()) {
      if (!isNeeded && missing == NONE) {
        // RocksDB deletes unneeded logs one by one, so a gap before this log is no loss.
        next = NONE;
      }
      isNeeded = number(log) >= firstLog;
      long tornAt = check(log);
      if (tornAt != NONE) {
        tails.add(new Tail(log, tornAt));
      }
    }
    return next == NONE ? NONE : next - 1;
  }

  /**
   * Removes the tails that {@link #check} has found. Otherwise RocksDB would replay the logs after a torn log, although
   * entries between the logs are missing.
   */
  void removeTails() throws IOException {
    // The last log comes first. If the process ends in between, the next check finds the same first tail.
    for (Tail tail : tails.reversed()) {
      LOG.log(System.Logger.Level.INFO,
          "the log ends in commits that were not synced before a crash; these commits are removed, and no "
              + "acknowledged task is lost: log=" + tail.log + ", at=" + tail.from + ", bytes="
              + (Files.size(tail.log) - tail.from));
      try (FileChannel channel = FileChannel.open(tail.log, StandardOpenOption.WRITE)) {
        channel.truncate(tail.from);
        channel.force(true);
      }
    }
    tails.clear();
  }

  private List<Path> logs() throws IOException {
    if (!Files.isDirectory(rocks)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(rocks)) {
      // Names are numbers of six digits or more, so they are sorted by number.
      return files.filter(file -> file.getFileName().toString().matches("[0-9]+\\.log"))
          .sorted(Comparator.comparingLong(LogCheck::number)).toList();
    }
  }

  private static long number(Path log) {
    String name = log.getFileName().toString();
    return Long.parseLong(name.substring(0, name.length() - ".log".length()));
  }

  private static DamagedException damaged(Path log, long at) {
    return new DamagedException("the log is damaged, and commits after the damage were acknowledged: log=" + log
        + ", at=" + at, null);
  }

  /**
   * Reads one log.
   *
   * @return the offset of the first record that is not readable or comes after missing entries, or -1 if there is none
   */
  private long check(Path log) throws IOException {
    byte[] block = new byte[LogFormat.BLOCK];
    long tornAt = missing == NONE ? NONE : 0;
    long blockAt = 0;
    isInRecord = false;
    try (InputStream in = Files.newInputStream(log)) {
      for (int length = in.readNBytes(block, 0, LogFormat.BLOCK); length > 0; length = in.readNBytes(block, 0,
          LogFormat.BLOCK)) {
        int end = tornAt == NONE ? wholeUpTo(log, block, blockAt, length) : 0;
        if (end < length) {
          tornAt = tornAt == NONE ? tear(blockAt + end) : tornAt;
          if (hasAcknowledged(block, end, length)) {
            throw damaged(log, tornAt);
          }
        }
        blockAt += length;
      }
    }
    return tornAt == NONE && isInRecord ? tear(blockAt) : tornAt;
  }

  /** Records that the log is unreadable from an offset on. Returns the start of the record that contains the offset. */
  private long tear(long at) {
    long tornAt = isInRecord ? recordAt : at;
    missing = next == NONE ? 0 : next;
    isInRecord = false;
    return tornAt;
  }

  /** Returns the end of the good part of a block. Before it, all pieces are whole, and no entries are missing. */
  private int wholeUpTo(Path log, byte[] block, long blockAt, int length) {
    int at = 0;
    while (at + LogFormat.HEADER <= length) {
      if (!LogFormat.isWhole(block, at, length)) {
        return at;
      }
      if (LogFormat.isBeginning(block, at)) {
        recordAt = blockAt + at;
      }
      readHead(block, at);
      if (isInRecord && LogFormat.isEnd(block, at) && headBytes >= Batch.HEADER) {
        if (isAfterGap(log)) {
          return at;
        }
        next = Batch.nextSequence(head);
        isInRecord = false;
      }
      at += LogFormat.HEADER + LogFormat.contentLength(block, at);
    }
    // Less than a header is left. These bytes are padding in a full block, and a torn header in the last block.
    return length == LogFormat.BLOCK || at == length ? length : at;
  }

  /**
   * Returns whether entries that were not synced are missing before the current record.
   *
   * @throws DamagedException if synced entries are missing
   */
  private boolean isAfterGap(Path log) {
    long sequence = Batch.firstSequence(head);
    if (next == NONE || sequence == next) {
      return false;
    }
    if (sequence < next || Batch.syncedSequence(head, headBytes) >= next) {
      throw new DamagedException("entries are missing in the log or between two logs: log=" + log + ", expected=" + next
          + ", found=" + sequence, null);
    }
    return true;
  }

  /** Adds the content of a whole piece to {@link #head}, until the head is complete. */
  private void readHead(byte[] block, int at) {
    if (LogFormat.isBeginning(block, at)) {
      headBytes = 0;
      isInRecord = true;
    }
    if (isInRecord) {
      int count = Math.min(Batch.HEAD - headBytes, LogFormat.contentLength(block, at));
      System.arraycopy(block, at + LogFormat.HEADER, head, headBytes, count);
      headBytes += count;
    }
  }

  /**
   * Searches a block, from the damage on, for a commit that was written after the sync of the missing entries. Returns
   * whether there is one. The head of a commit may continue in the next block.
   */
  private boolean hasAcknowledged(byte[] block, int from, int length) {
    int at = from;
    while (at + LogFormat.HEADER <= length) {
      if (!LogFormat.isWhole(block, at, length)) {
        // The length of a torn piece cannot be trusted, so the next piece may begin anywhere.
        isInRecord = false;
        at++;
        continue;
      }
      readHead(block, at);
      if (isInRecord && (headBytes == Batch.HEAD || LogFormat.isEnd(block, at))) {
        isInRecord = false;
        if (headBytes < Batch.HEADER || Batch.syncedSequence(head, headBytes) >= missing) {
          return true;
        }
      }
      at += LogFormat.HEADER + LogFormat.contentLength(block, at);
    }
    return false;
  }
}
