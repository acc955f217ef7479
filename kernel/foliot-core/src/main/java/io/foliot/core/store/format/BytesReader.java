package io.foliot.core.store.format;

import io.foliot.core.TaskId;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Decodes values that {@link Bytes} encoded. A read beyond the end throws {@link IndexOutOfBoundsException}. */
public final class BytesReader {
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private final byte[] array;
  private final int end;
  private int at;

  /** Creates a reader of a range of an array. */
  public BytesReader(byte[] array, int offset, int length) {
    this.array = array;
    at = offset;
    end = offset + length;
  }

  /** Creates a reader of a whole array. */
  public BytesReader(byte[] array) {
    this(array, 0, array.length);
  }

  /** Returns the unsigned number of two bytes at an index. */
  public static int u16(byte[] array, int at) {
    return (array[at] & 0xFF) << 8 | (array[at + 1] & 0xFF);
  }

  /** Returns the number of four bytes at an index. */
  public static int u32(byte[] array, int at) {
    return (int) INT.get(array, at);
  }

  /** Returns the number of eight bytes at an index. */
  public static long u64(byte[] array, int at) {
    return (long) LONG.get(array, at);
  }

  /** Returns the number that {@link Bytes#ordered} wrote at an index. */
  public static long ordered(byte[] array, int at) {
    return u64(array, at) ^ Long.MIN_VALUE;
  }

  /** Advances by a number of bytes, and returns the index of the first. */
  private int take(int count) {
    int from = at;
    if (count < 0 || count > end - from) {
      throw new IndexOutOfBoundsException("the bytes end before the value does: at=" + from + ", end=" + end);
    }
    at = from + count;
    return from;
  }

  /** Returns the next byte as an unsigned number. */
  public int u8() {
    return array[take(1)] & 0xFF;
  }

  /** Returns the next unsigned number of two bytes. */
  public int u16() {
    return u16(array, take(2));
  }

  /** Returns the next number of four bytes. */
  public int u32() {
    return u32(array, take(4));
  }

  /** Returns the next number of eight bytes. */
  public long u64() {
    return u64(array, take(8));
  }

  /** Returns the next varint of up to 32 bits. */
  public int varint() {
    int value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      int next = u8();
      value |= (next & 0x7F) << shift;
      if (next < 0x80) {
        return value;
      }
    }
    throw new IndexOutOfBoundsException("a number of more than 32 bits: at=" + at);
  }

  /** Returns the next varint of up to 64 bits. */
  public long varlong() {
    long value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      int next = u8();
      value |= (next & 0x7FL) << shift;
      if (next < 0x80) {
        return value;
      }
    }
    throw new IndexOutOfBoundsException("a number of more than 64 bits: at=" + at);
  }

  /** Returns the next number that {@link Bytes#near} wrote. */
  public long near() {
    long value = varlong();
    return (value >>> 1) ^ -(value & 1);
  }

  /** Returns a copy of the next bytes. */
  public byte[] bytes(int count) {
    int from = take(count);
    return Arrays.copyOfRange(array, from, from + count);
  }

  /** Returns the next text that {@link Bytes#text} wrote. */
  public String text() {
    return text(varint());
  }

  /** Returns the next text that {@link Bytes#text16} wrote. */
  public String text16() {
    return text(u16());
  }

  /** Returns the next text, given its number of bytes in UTF-8. */
  public String text(int count) {
    int from = take(count);
    return new String(array, from, count, StandardCharsets.UTF_8);
  }

  /** Returns the next task's id. */
  public TaskId id() {
    return new TaskId(u64(), u64());
  }

  /** Returns a copy of all bytes that were not read yet. */
  public byte[] rest() {
    return bytes(end - at);
  }

  /** Returns the index of the next byte. */
  public int at() {
    return at;
  }

  /** Returns whether all bytes were read. */
  public boolean atEnd() {
    return at == end;
  }
}
