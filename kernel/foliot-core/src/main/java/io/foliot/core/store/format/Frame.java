package io.foliot.core.store.format;

import java.util.function.Function;

/**
 * The frame of all stored bytes.
 *
 * <pre>
 * version u8 | content | CRC32C of all before, with the mark of the owner, u32
 * </pre>
 *
 * <p>Every later version keeps the first byte and the checksum where they are, and versions only increase. An old node
 * can thereby distinguish data of a newer version from damaged data; a statement or script needs only the first byte.
 */
public final class Frame {
  /** The version that is written, and the newest that is read. */
  public static final int VERSION = 1;

  private static final int VERSION_BYTES = 1;
  private static final int SMALLEST = VERSION_BYTES + Checksum.BYTES;

  private Frame() {}

  /** Begins a frame at the end of the bytes. Returns the position at which it begins, for {@link #end}. */
  public static int begin(Bytes out) {
    int start = out.length();
    out.u8(VERSION);
    return start;
  }

  /** Ends the frame that began at a position. */
  public static Bytes end(Bytes out, int start, int mark) {
    return out.u32(Checksum.of(mark, out.array(), start, out.length() - start));
  }

  /** Returns whether these bytes are complete and unchanged, and belong to the owner of the mark. */
  static boolean isMarked(int mark, byte[] bytes) {
    int end = bytes.length - Checksum.BYTES;
    return bytes.length >= SMALLEST && BytesReader.u32(bytes, end) == Checksum.of(mark, bytes, 0, end);
  }

  /**
   * Ensures that these are the bytes that were written, by a version that is known.
   *
   * @param what the subject of the message of an exception
   * @param owner the owner of the frame; its text is in the message of an exception
   * @throws DamagedException if the checksum does not match
   * @throws NewerVersionException if a newer version wrote them
   * @throws MalformedException if their version never existed
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
   * @param what the subject of the message of an exception
   * @param owner the owner of the frame; its text is in the message of an exception
   * @param content reads all of the content; an exception of indices or arguments means that it makes no sense
   * @throws UnreadableException if the bytes cannot be read; its class says why
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
