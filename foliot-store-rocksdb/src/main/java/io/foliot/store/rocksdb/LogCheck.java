package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * Looks through RocksDB's log before RocksDB does, to tell a torn tail from a loss.
 *
 * <p>After a power loss the log may end in a commit that was under way: its bytes are there in part, in any order. That is
 * no loss, for its callers were never answered. Damage anywhere else is. RocksDB has no recovery mode that knows the
 * difference: "point in time" stops at the first damage and silently forgets whatever follows; "tolerate corrupted tail"
 * refuses a tail whose last block is there and a middle one is not; "absolute consistency" refuses any tail.
 *
 * <p>What tells them apart is that each commit is synced before the next begins: so nothing that begins behind the damage
 * may be whole. If something is, commits that were answered are gone, and the store is not opened. A log that is not the
 * last one was whole when the next began, unless it is what an earlier open has accepted; that is written down.
 *
 * <p>Format: blocks of 32 KiB; in them pieces: masked CRC32C (4 bytes, least first), length (2), type (1), content.
 */
final class LogCheck {
  private static final String ACCEPTED = "accepted-log-tails";
  private static final int BLOCK = 32 << 10;
  private static final int HEADER = 7;
  private static final int ZERO = 0;
  private static final int FULL = 1;
  private static final int FIRST = 2;
  private static final int CRC_MASK = 0xA282EAD8;

  private final Path folder;
  private final Path rocks;

  LogCheck(Path folder, Path rocks) {
    this.folder = folder;
    this.rocks = rocks;
  }

  /** Throws if commits that were answered are missing. */
  void check() {
    try {
      List<Path> logs = logs();
      Set<String> accepted = new HashSet<>(readAccepted());
      List<String> stillThere = new ArrayList<>();
      for (Path log : logs) {
        boolean isLast = log.equals(logs.getLast());
        long end = check(log);
        if (end < 0) {
          continue;
        }
        String tail = log.getFileName() + " " + end;
        if (!isLast && !accepted.contains(tail)) {
          throw damaged(log, end, "a later log exists");
        }
        stillThere.add(tail);
      }
      if (!stillThere.equals(readAccepted())) {
        writeAccepted(stillThere);
      }
    } catch (IOException e) {
      throw new StoreException("the log cannot be read: " + rocks + ": " + e, e);
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

  private void writeAccepted(List<String> tails) throws IOException {
    Path written = folder.resolve(ACCEPTED + ".new");
    Files.write(written, tails, StandardCharsets.US_ASCII);
    StoreFolder.sync(written);
    Files.move(written, folder.resolve(ACCEPTED), StandardCopyOption.ATOMIC_MOVE);
    StoreFolder.sync(folder);
  }

  private static DamagedException damaged(Path log, long at, String because) {
    return new DamagedException("the log is damaged, and commits behind the damage were answered (" + because
        + "): log=" + log + ", at=" + at + "; the store is not opened, for tasks would be missing silently; restore a "
        + "backup, or ask for help with the folder as it is", null);
  }

  /**
   * Reads one log.
   *
   * @return where a torn tail begins, or -1 if all of it is whole
   */
  private static long check(Path log) throws IOException {
    byte[] block = new byte[BLOCK];
    long tornAt = -1;
    long blockAt = 0;
    try (InputStream in = Files.newInputStream(log)) {
      for (int length = in.readNBytes(block, 0, BLOCK); length > 0; length = in.readNBytes(block, 0, BLOCK)) {
        int end = tornAt < 0 ? wholeUpTo(block, length) : 0;
        if (end < length && beginsBehind(block, tornAt < 0 ? end + 1 : 0, length, tornAt >= 0)) {
          throw damaged(log, tornAt < 0 ? blockAt + end : tornAt, "one that is whole begins behind it");
        }
        if (end < length && tornAt < 0) {
          tornAt = blockAt + end;
        }
        blockAt += length;
      }
    }
    return tornAt;
  }

  /** How far the pieces of a block are whole. */
  private static int wholeUpTo(byte[] block, int length) {
    int at = 0;
    while (at + HEADER <= length) {
      if (!isWhole(block, at, length)) {
        return at;
      }
      at += HEADER + contentLength(block, at);
    }
    // Less than a header is left: filled with zeros in a full block, and cut off in the last one.
    return length == BLOCK || at == length ? length : at;
  }

  /** Whether a piece with which a commit begins is whole somewhere behind. */
  private static boolean beginsBehind(byte[] block, int from, int length, boolean isNextBlock) {
    if (isNextBlock) {
      // Pieces begin with the block; a torn one among them hides only its own.
      int at = 0;
      while (at + HEADER <= length && isWhole(block, at, length)) {
        if (isBeginning(block[at + 6])) {
          return true;
        }
        at += HEADER + contentLength(block, at);
      }
      return at < length && beginsBehind(block, at + 1, length, false);
    }
    // The length of the torn piece is not to be trusted: a piece may begin anywhere.
    for (int at = from; at + HEADER <= length; at++) {
      if (isBeginning(block[at + 6]) && isWhole(block, at, length)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isBeginning(byte type) {
    return type == FULL || type == FIRST;
  }

  private static int contentLength(byte[] block, int at) {
    return (block[at + 4] & 0xFF) | (block[at + 5] & 0xFF) << 8;
  }

  private static boolean isWhole(byte[] block, int at, int length) {
    int content = contentLength(block, at);
    if (block[at + 6] == ZERO || at + HEADER + content > length) {
      return false;
    }
    CRC32C sum = new CRC32C();
    sum.update(block, at + 6, content + 1);
    int crc = (int) sum.getValue();
    int masked = (crc >>> 15 | crc << 17) + CRC_MASK;
    int stored = (block[at] & 0xFF) | (block[at + 1] & 0xFF) << 8 | (block[at + 2] & 0xFF) << 16 | block[at + 3] << 24;
    return masked == stored;
  }
}
