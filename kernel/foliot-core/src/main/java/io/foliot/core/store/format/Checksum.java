package io.foliot.core.store.format;

import io.foliot.core.TaskId;
import java.util.zip.CRC32C;

/**
 * CRC32C of stored bytes, XORed with a hash of their owner. This hash is called the mark. If bytes are copied or
 * restored to another task, the mark differs and the checksum does not match. The mark needs no second pass over the
 * bytes.
 */
public final class Checksum {
  /** Size of a checksum in bytes. */
  public static final int BYTES = 4;
  /** Mark of bytes that belong to no task. */
  public static final int NO_MARK = 0;

  /** 2^64 divided by the golden ratio; a product with this number has well mixed upper bits. */
  private static final long GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15L;

  private Checksum() {}

  /** Returns the mark of a task. */
  public static int mark(TaskId id) {
    return mark(id.high() * 31 + id.low());
  }

  /** Returns the mark of a key. It is computed from {@link String#hashCode}, whose result the JDK specifies. */
  public static int mark(String key) {
    return mark((long) key.hashCode());
  }

  private static int mark(long value) {
    return (int) ((value * GOLDEN_RATIO) >>> 32);
  }

  /** Returns the checksum of a range of bytes that belong to the owner of the mark. */
  public static int of(int mark, byte[] bytes, int from, int count) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, from, count);
    return (int) sum.getValue() ^ mark;
  }

  /** Returns the checksum of a range of bytes that belong to no task. */
  public static int of(byte[] bytes, int from, int count) {
    return of(NO_MARK, bytes, from, count);
  }
}
