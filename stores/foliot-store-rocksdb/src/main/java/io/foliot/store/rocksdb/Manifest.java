package io.foliot.store.rocksdb;

import io.foliot.core.store.format.BytesReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * RocksDB's MANIFEST: a log of edits that together list the files and logs of the store. This class reads the MANIFEST
 * before RocksDB is opened, because RocksDB mistakes a cut MANIFEST for an older state. RocksDB then deletes every file
 * that is not part of this state.
 *
 * <p>An edit is a sequence of tagged fields. An unknown field that must not be skipped makes the MANIFEST
 * {@linkplain #isUnderstood not understood}. In this case only RocksDB checks files and logs against the MANIFEST.
 */
final class Manifest {
  private static final String CURRENT = "CURRENT";
  private static final String NAME = "MANIFEST-";

  // RocksDB's tags of the fields of an edit.
  private static final int COMPARATOR = 1;
  private static final int LOG_NUMBER = 2;
  private static final int NEXT_FILE_NUMBER = 3;
  private static final int LAST_SEQUENCE = 4;
  private static final int COMPACT_CURSOR = 5;
  private static final int DELETED_FILE = 6;
  private static final int PREVIOUS_LOG_NUMBER = 9;
  private static final int MIN_LOG_TO_KEEP = 10;
  private static final int NEW_FILE_4 = 103;
  private static final int COLUMN_FAMILY = 200;
  private static final int COLUMN_FAMILY_ADD = 201;
  private static final int COLUMN_FAMILY_DROP = 202;
  private static final int MAX_COLUMN_FAMILY = 203;
  private static final int IN_ATOMIC_GROUP = 300;
  /** A tag with this bit says that its field begins with a length, so a reader can skip the field. */
  private static final int SKIPPABLE = 1 << 13;
  private static final int WAL_ADDITION = SKIPPABLE + 7;
  private static final int WAL_DELETION = SKIPPABLE + 8;

  // Tags inside the fields that add a table file or a log.
  private static final int END_OF_FILE_FIELDS = 1;
  private static final int END_OF_WAL_FIELDS = 1;
  private static final int WAL_SYNCED_BYTES = 2;
  /** Mask of the bits that hold a file's number. The bits above hold the number of a path; a store has only path 0. */
  private static final long FILE_NUMBER = 0x3FFF_FFFF_FFFF_FFFFL;

  private final Path path;
  private final byte[] bytes;
  private final int wholeBytes;
  private final Map<Long, Long> fileBytes = new TreeMap<>();
  private final Map<Long, Long> logBytes = new TreeMap<>();
  /** For each column family, the number of the first log with entries that may not be in table files yet. */
  private final Map<Integer, Long> logNumbers = new HashMap<>();
  private long minLogToKeep;
  private long lastSequence;
  private boolean understood = true;

  private Manifest(Path path, byte[] bytes) {
    this.path = path;
    this.bytes = bytes;
    wholeBytes = LogFormat.records(bytes, this::apply);
  }

  /** Returns the file that CURRENT names, or null if CURRENT does not exist or does not name a MANIFEST. */
  static @Nullable Path current(Path rocks) throws IOException {
    Path current = rocks.resolve(CURRENT);
    if (!Files.exists(current)) {
      return null;
    }
    String name = new String(Files.readAllBytes(current), StandardCharsets.ISO_8859_1).strip();
    return name.matches(NAME + "[0-9]{1,18}") ? rocks.resolve(name) : null;
  }

  static Manifest read(Path path) throws IOException {
    return new Manifest(path, Files.readAllBytes(path));
  }

  static long number(Path path) {
    return Long.parseLong(path.getFileName().toString().substring(NAME.length()));
  }

  private void apply(byte[] edit) {
    if (!understood) {
      return;
    }
    try {
      BytesReader in = new BytesReader(edit);
      int family = 0;
      Long logNumber = null;
      boolean isDrop = false;
      while (!in.atEnd()) {
        int tag = in.varint();
        switch (tag) {
          case LOG_NUMBER -> logNumber = in.varlong();
          case LAST_SEQUENCE -> lastSequence = Math.max(lastSequence, in.varlong());
          case MIN_LOG_TO_KEEP -> minLogToKeep = Math.max(minLogToKeep, in.varlong());
          case NEXT_FILE_NUMBER, PREVIOUS_LOG_NUMBER -> in.varlong();
          case COLUMN_FAMILY -> family = in.varint();
          case COLUMN_FAMILY_DROP -> isDrop = true;
          case MAX_COLUMN_FAMILY, IN_ATOMIC_GROUP -> in.varint();
          case COMPARATOR, COLUMN_FAMILY_ADD -> in.bytes(in.varint());
          case COMPACT_CURSOR -> {
            in.varint();
            in.bytes(in.varint());
          }
          case DELETED_FILE -> {
            in.varint();
            fileBytes.remove(in.varlong());
          }
          case NEW_FILE_4 -> newFile(in);
          case WAL_ADDITION -> newLog(new BytesReader(in.bytes(in.varint())));
          case WAL_DELETION -> {
            long from = new BytesReader(in.bytes(in.varint())).varlong();
            logBytes.keySet().removeIf(log -> log < from);
          }
          default -> {
            if ((tag & SKIPPABLE) == 0) {
              throw new IndexOutOfBoundsException("unknown tag: tag=" + tag);
            }
            in.bytes(in.varint());
          }
        }
      }
      if (isDrop) {
        logNumbers.remove(family);
      } else if (logNumber != null) {
        logNumbers.put(family, logNumber);
      }
    } catch (IndexOutOfBoundsException e) {
      understood = false;
    }
  }

  private void newFile(BytesReader in) {
    // Level, number and path, length, smallest and largest key, smallest and largest sequence number, further fields.
    in.varint();
    long number = in.varlong() & FILE_NUMBER;
    fileBytes.put(number, in.varlong());
    in.bytes(in.varint());
    in.bytes(in.varint());
    in.varlong();
    lastSequence = Math.max(lastSequence, in.varlong());
    for (int field = in.varint(); field != END_OF_FILE_FIELDS; field = in.varint()) {
      in.bytes(in.varint());
    }
  }

  private void newLog(BytesReader in) {
    long number = in.varlong();
    long synced = 0;
    for (int field = in.varint(); field != END_OF_WAL_FIELDS; field = in.varint()) {
      if (field != WAL_SYNCED_BYTES) {
        throw new IndexOutOfBoundsException("unknown field of a log: field=" + field);
      }
      synced = in.varlong();
    }
    logBytes.put(number, synced);
  }

  Path path() {
    return path;
  }

  long number() {
    return number(path);
  }

  int length() {
    return bytes.length;
  }

  /** Returns the offset at which the last whole edit ends. */
  int wholeBytes() {
    return wholeBytes;
  }

  /** Returns whether every edit was understood. If not, callers must not use files, logs or sequence number. */
  boolean isUnderstood() {
    return understood;
  }

  /** Returns the CRC32C of the first {@code count} bytes. */
  int sum(int count) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, 0, count);
    return (int) sum.getValue();
  }

  /** Returns the numbers of the store's table files, each with the file's length in bytes. */
  Map<Long, Long> fileBytes() {
    return fileBytes;
  }

  /** Returns the numbers of the logs that were synced before the next log began, each with its length in bytes. */
  Map<Long, Long> logBytes() {
    return logBytes;
  }

  /** Returns the number of the first log with entries that may not be in table files yet. */
  long firstLog() {
    long withUnflushed = logNumbers.values().stream().mapToLong(Long::longValue).min().orElse(0);
    return Math.max(minLogToKeep, withUnflushed);
  }

  /** Returns the sequence number of the last entry that is known to be in table files. */
  long lastSequence() {
    return lastSequence;
  }
}
