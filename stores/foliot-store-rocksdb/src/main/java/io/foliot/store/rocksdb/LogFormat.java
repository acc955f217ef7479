package io.foliot.store.rocksdb;

import java.io.ByteArrayOutputStream;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * The format that RocksDB's logs and its MANIFEST share: blocks of 32 KiB that hold pieces of records. The parts of a
 * piece are a checksum (4 bytes, least significant first), the length of the content (2 bytes), a type (1 byte) and the
 * content. The checksum is a masked CRC32C of the type and the content. A record is one piece, or several in successive
 * blocks.
 */
final class LogFormat {
  static final int BLOCK = 32 << 10;
  /** Length in bytes of the header of a piece: checksum, length and type. */
  static final int HEADER = 7;

  // The types of pieces: a whole record, or the first, a middle or the last piece of a record.
  static final int FULL = 1;
  static final int FIRST = 2;
  static final int MIDDLE = 3;
  static final int LAST = 4;

  /** The type byte of unused space, which RocksDB fills with zeros. */
  private static final int ZERO = 0;
  /** The constant that RocksDB adds to a rotated CRC32C to mask it. */
  private static final int CRC_MASK = 0xA282EAD8;

  private LogFormat() {}

  static int type(byte[] bytes, int at) {
    return bytes[at + 6] & 0xFF;
  }

  static boolean isBeginning(byte[] bytes, int at) {
    int type = type(bytes, at);
    return type == FULL || type == FIRST;
  }

  static boolean isEnd(byte[] bytes, int at) {
    int type = type(bytes, at);
    return type == FULL || type == LAST;
  }

  static int contentLength(byte[] bytes, int at) {
    return (bytes[at + 4] & 0xFF) | (bytes[at + 5] & 0xFF) << 8;
  }

  /** Returns whether a whole piece begins at offset {@code at} and ends at or before offset {@code end}. */
  static boolean isWhole(byte[] bytes, int at, int end) {
    int content = contentLength(bytes, at);
    if (type(bytes, at) == ZERO || at + HEADER + content > end) {
      return false;
    }
    CRC32C sum = new CRC32C();
    sum.update(bytes, at + 6, content + 1);
    int crc = (int) sum.getValue();
    int masked = (crc >>> 15 | crc << 17) + CRC_MASK;
    int stored = (bytes[at] & 0xFF) | (bytes[at + 1] & 0xFF) << 8 | (bytes[at + 2] & 0xFF) << 16 | bytes[at + 3] << 24;
    return masked == stored;
  }

  /**
   * Reads the records of a file up to the first piece that is not whole, and passes their contents to the sink.
   *
   * @return the offset at which the last whole record ends, or 0 if there is no whole record
   */
  static int records(byte[] file, Consumer<byte[]> sink) {
    ByteArrayOutputStream record = new ByteArrayOutputStream();
    int end = 0;
    int at = 0;
    while (at + HEADER <= file.length) {
      int blockEnd = Math.min(file.length, (at / BLOCK + 1) * BLOCK);
      if (blockEnd - at < HEADER) {
        at = blockEnd;
        continue;
      }
      if (!isWhole(file, at, blockEnd)) {
        return end;
      }
      if (isBeginning(file, at)) {
        record.reset();
      }
      int content = contentLength(file, at);
      record.write(file, at + HEADER, content);
      boolean isEnd = isEnd(file, at);
      at += HEADER + content;
      if (isEnd) {
        sink.accept(record.toByteArray());
        end = at;
      }
    }
    return end;
  }
}
