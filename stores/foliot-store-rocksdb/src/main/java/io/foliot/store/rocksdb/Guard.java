package io.foliot.store.rocksdb;

import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.Checksum;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * A record of the durable state, outside RocksDB's own files: the MANIFEST with its length and checksum, and the
 * sequence number of the last commit. This record reveals a MANIFEST that was cut, and a log that was removed.
 *
 * <p>The file has two pages, which are written in turn. Each page holds one record with a checksum. If a power loss
 * tears the write of one page, the previous record in the other page is intact.
 *
 * @param count the number of the record; each record has a higher number than the record before
 * @param manifest the number of the MANIFEST
 * @param manifestBytes the length of the MANIFEST when the record was made; a MANIFEST only grows
 * @param manifestSum the CRC32C of the first {@code manifestBytes} bytes of the MANIFEST
 * @param sequence RocksDB's sequence number of the last entry of the last synced commit
 */
record Guard(long count, long manifest, long manifestBytes, int manifestSum, long sequence) {
  static final String FILE = "guard";

  /** Length of a page, in bytes: so large that a write of one page never touches the other page. */
  private static final int PAGE = 4096;
  private static final int PAGES = 2;
  /** The letters FOGU. */
  private static final int MAGIC = 0x464F4755;
  private static final int VERSION = 1;
  /** Length of a record without its checksum, in bytes; the checksum follows. */
  private static final int SUMMED = 44;

  /** Thrown if a folder has a guard that cannot be read. */
  static final class UnreadableException extends IOException {
    private static final long serialVersionUID = 1;

    private UnreadableException(String message) {
      super(message);
    }
  }

  static Path file(Path folder) {
    return folder.resolve(FILE);
  }

  /**
   * Reads the latest record.
   *
   * @return the latest record, or null if the folder has no guard; older versions of Foliot wrote none
   * @throws UnreadableException if neither page holds a record of this version with a matching checksum
   */
  static @Nullable Guard read(Path folder) throws IOException {
    Path file = file(folder);
    if (!Files.exists(file)) {
      return null;
    }
    byte[] bytes = Files.readAllBytes(file);
    Guard latest = null;
    for (int page = 0; page < PAGES; page++) {
      Guard guard = decode(bytes, page * PAGE);
      if (guard != null && (latest == null || guard.count > latest.count)) {
        latest = guard;
      }
    }
    if (latest == null) {
      throw new UnreadableException("no record matches its checksum: file=" + file);
    }
    return latest;
  }

  private static @Nullable Guard decode(byte[] bytes, int at) {
    if (bytes.length < at + SUMMED + 4 || BytesReader.u32(bytes, at) != MAGIC
        || BytesReader.u32(bytes, at + SUMMED) != sum(bytes, at) || BytesReader.u32(bytes, at + 4) != VERSION) {
      return null;
    }
    return new Guard(BytesReader.u64(bytes, at + 8), BytesReader.u64(bytes, at + 16), BytesReader.u64(bytes, at + 24),
        BytesReader.u32(bytes, at + 32), BytesReader.u64(bytes, at + 36));
  }

  /** Returns whether two records are equal except for their counts. */
  boolean hasSameState(@Nullable Guard other) {
    return other != null && manifest == other.manifest && manifestBytes == other.manifestBytes
        && manifestSum == other.manifestSum && sequence == other.sequence;
  }

  private Bytes encode() {
    Bytes out = new Bytes(SUMMED + 4).u32(MAGIC).u32(VERSION).u64(count).u64(manifest).u64(manifestBytes)
        .u32(manifestSum).u64(sequence);
    assert out.length() == SUMMED;
    return out.u32(sum(out.array(), 0));
  }

  private static int sum(byte[] bytes, int at) {
    return Checksum.of(bytes, at, SUMMED);
  }

  /** Writes the record into the page that does not hold the previous record, and syncs the file. */
  void write(Path folder) throws IOException {
    Path file = file(folder);
    if (!Files.exists(file)) {
      create(file);
      return;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      Bytes record = encode();
      ByteBuffer buffer = ByteBuffer.wrap(record.array(), 0, record.length());
      long at = count % PAGES * PAGE;
      while (buffer.hasRemaining()) {
        at += channel.write(buffer, at);
      }
      channel.force(false);
    }
  }

  private void create(Path file) throws IOException {
    Bytes record = encode();
    byte[] pages = new byte[PAGES * PAGE];
    System.arraycopy(record.array(), 0, pages, (int) (count % PAGES) * PAGE, record.length());
    OwnerOnly.replace(file, pages);
  }
}
