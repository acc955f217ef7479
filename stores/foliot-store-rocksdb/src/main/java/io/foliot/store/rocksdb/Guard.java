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
 * sequence number of the last commit. A folder whose MANIFEST was cut, or whose log was removed, falls short of it.
 *
 * <p>The file has two places, written in turn and each with its checksum, so that a write torn by a power loss leaves
 * the record before it intact.
 *
 * @param count the number of the record; each record has a higher one than the record before
 * @param manifest the number of the MANIFEST
 * @param manifestBytes the length of the MANIFEST at that time; a MANIFEST only grows
 * @param manifestSum the CRC32C of that many bytes of the MANIFEST
 * @param sequence RocksDB's sequence number of the last entry of a commit
 */
record Guard(long count, long manifest, long manifestBytes, int manifestSum, long sequence) {
  static final String FILE = "guard";

  /** Bytes of a place: a page, so that a write of one place never touches the other place. */
  private static final int PLACE = 4096;
  private static final int PLACES = 2;
  private static final int MAGIC = 0x464F4755;
  private static final int VERSION = 1;
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
   * @return the latest record, or null if the folder has no guard because an older Foliot, which wrote none, last
   *     opened it
   * @throws UnreadableException if neither record matches its checksum
   */
  static @Nullable Guard read(Path folder) throws IOException {
    Path file = file(folder);
    if (!Files.exists(file)) {
      return null;
    }
    byte[] bytes = Files.readAllBytes(file);
    Guard latest = null;
    for (int place = 0; place < PLACES; place++) {
      Guard guard = decode(bytes, place * PLACE);
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

  boolean saysTheSame(@Nullable Guard other) {
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

  /** Writes the record and syncs it. */
  void write(Path folder) throws IOException {
    Path file = file(folder);
    if (!Files.exists(file)) {
      create(file);
      return;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      Bytes record = encode();
      ByteBuffer buffer = ByteBuffer.wrap(record.array(), 0, record.length());
      long at = count % PLACES * PLACE;
      while (buffer.hasRemaining()) {
        at += channel.write(buffer, at);
      }
      channel.force(false);
    }
  }

  private void create(Path file) throws IOException {
    Bytes record = encode();
    byte[] places = new byte[PLACES * PLACE];
    System.arraycopy(record.array(), 0, places, (int) (count % PLACES) * PLACE, record.length());
    OwnerOnly.replace(file, places);
  }
}
