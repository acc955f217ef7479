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
 * That is no loss, because no task in them was acknowledged. Damage anywhere else is a loss. No recovery mode of
 * RocksDB makes this distinction: "point in time" stops at the first damage and silently forgets all that follows;
 * "tolerate corrupted tail" refuses a tail whose last block exists although a middle block is missing; "absolute
 * consistency" refuses any torn tail.
 *
 * <p>Each commit records in the log up to which sequence number everything was synced when it was written
 * ({@link Batch#syncedSequence}). If a whole commit after the damage records a number that includes the damaged commit,
 * acknowledged commits are lost, and the store is not opened. Otherwise the damage begins in a commit that was not yet
 * synced: the last one, or one that only moves index entries, because moves are written without a sync. The commits
 * after the damaged one were not synced either, even if all their bytes reached the disk, in the same log or the next.
 *
 * <p>Sequence numbers of entries have no gaps, so a log that is missing between two others is noticed. If the damage
 * begins in the first commit of the first log, the sequence number of that commit is not known, and any whole commit
 * after it counts as acknowledged.
 */
final class LogCheck {
  private static final System.Logger LOG = System.getLogger(LogCheck.class.getName());
  private static final long NONE = -1;

  /**
   * The bytes of a log after its last synced commit, as a crash left them.
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

  /** The sequence number that the next commit must have, or NONE if it may have any. */
  private long next = NONE;
  /**
   * The sequence number of the first entry that is not readable: NONE if all are so far, 0 if the number is not known.
   */
  private long missing = NONE;

  LogCheck(Path rocks) {
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
    boolean isNeeded = false;
    for (Path log : logs()) {
      if (!isNeeded && missing == NONE) {
        // RocksDB deletes logs that are no longer needed one by one, so a gap before this log is no loss.
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
   * Removes the tails that {@link #check} has found. RocksDB would replay the logs after a torn one even though entries
   * between the logs are missing.
   */
  void removeTails() throws IOException {
    // The last log first: if this is interrupted, the next check finds the same beginning of the tails.
    for (Tail tail : tails.reversed()) {
      LOG.log(System.Logger.Level.INFO,
          "the log ends in commits that were not synced before a crash; they are removed, and no acknowledged task is "
              + "lost: log=" + tail.log + ", at=" + tail.from + ", bytes=" + (Files.size(tail.log) - tail.from));
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
      // Names are numbers of six digits or more.
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

  /** Returns where the record begins whose bytes cannot be read from an offset on. */
  private long tear(long at) {
    long tornAt = isInRecord ? recordAt : at;
    missing = next == NONE ? 0 : next;
    isInRecord = false;
    return tornAt;
  }

  /** Returns the offset up to which the pieces of a block are whole, and belong to records without a gap. */
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
    // Less than a header is left. In a full block it is padding; in the last block it is a torn header.
    return length == LogFormat.BLOCK || at == length ? length : at;
  }

  /** Returns whether entries that were not synced are missing before a record. */
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

  /** Adds the content of a whole piece to the head of its record. */
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
   * Returns whether a whole piece after the damage begins a commit that was written when the missing entries were
   * synced. A commit may begin in one block and its head may end in the next.
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
