package io.foliot.core.store.format;

import java.util.function.Function;

/**
 * The frame of all stored bytes.
 *
 * <pre>
 * version u8 | content | CRC32C of all bytes before it, with the mark of the owner, u32
 * </pre>
 *
 * <p>In every later version the first byte is the version, and the last four bytes are the checksum. Versions only
 * increase. So an old node can distinguish data of a newer version from damaged data. An SQL statement or Lua script
 * reads only the first byte to find the version.
 */
public final class Frame {
  /** The version that is written, and the newest version that is read. */
  public static final int VERSION = 1;

  private static final int VERSION_BYTES = 1;
  private static final int SMALLEST = VERSION_BYTES + Checksum.BYTES;

  private Frame() {}

  /** Begins a frame at the end of the bytes. Returns the index of its first byte, for {@link #end}. */
  public static int begin(Bytes out) {
    int start = out.length();
    out.u8(VERSION);
    return start;
  }

  /**
   * Ends the frame that began at an index. Returns {@code out}.
   *
   * @param mark the mark of the owner, see {@link Checksum}
   */
  public static Bytes end(Bytes out, int start, int mark) {
    return out.u32(Checksum.of(mark, out.array(), start, out.length() - start));
  }

  /** Returns whether these bytes are complete and unchanged, and belong to the owner of the mark. */
  static boolean isMarked(int mark, byte[] bytes) {
    int end = bytes.length - Checksum.BYTES;
    return bytes.length >= SMALLEST && BytesReader.u32(bytes, end) == Checksum.of(mark, bytes, 0, end);
  }

  /**
   * Ensures that the bytes of a frame have not changed since they were written, and have the current version.
   *
   * @param what a name for the bytes, for the message of an exception
   * @param owner the owner of the frame, for the message of an exception
   * @throws DamagedException if the checksum does not match
   * @throws NewerVersionException if a newer version of Foliot wrote the bytes
   * @throws MalformedException if the version of the bytes never existed
   */
  public static void ensureWhole(String what, Object owner, int mark, byte[] bytes) {
    if (!isMarked(mark, bytes)) {
      throw new DamagedException(what + " does not match its checksum: of=" + owner + ", bytes=" + bytes.length, null);
    }
    int version = Byte.toUnsignedInt(bytes[0]);
    if (version > VERSION) {
      throw new NewerVersionException(what + " was written by a newer version of Foliot: of=" + owner + ", version="
          + version + ", known=" + VERSION);
    }
    if (version != VERSION) {
      throw new MalformedException(what + " is of no known version: of=" + owner + ", version=" + version, null);
    }
  }

  /**
   * Reads a frame that fills the array.
   *
   * @param what a name for the bytes, for the message of an exception
   * @param owner the owner of the frame, for the message of an exception
   * @param content reads all of the content; throws {@link IndexOutOfBoundsException} or
   *     {@link IllegalArgumentException} if the content is malformed
   * @throws UnreadableException if the bytes cannot be read; the class of the exception says why
   */
  public static <T> T read(String what, Object owner, int mark, byte[] bytes, Function<BytesReader, T> content) {
    ensureWhole(what, owner, mark, bytes);
    try {
      BytesReader in = new BytesReader(bytes, VERSION_BYTES, bytes.length - SMALLEST);
      T value = content.apply(in);
      if (!in.atEnd()) {
        throw new IndexOutOfBoundsException("bytes are left over");
      }
      return value;
    } catch (IndexOutOfBoundsException | IllegalArgumentException | MalformedException e) {
      throw new MalformedException(what + " cannot be read although its checksum is right: of=" + owner, e);
    }
  }
}
