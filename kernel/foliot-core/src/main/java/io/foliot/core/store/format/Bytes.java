package io.foliot.core.store.format;

import io.foliot.core.TaskId;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A byte array that grows as bytes are appended. Numbers of fixed size are big-endian, so that their bytes sort as the
 * numbers do, except for negative numbers. Not thread-safe.
 */
public final class Bytes {
  private byte[] array;
  private int length;

  /** Creates an empty array with room for this many bytes. */
  public Bytes(int capacity) {
    array = new byte[capacity];
  }

  /** Returns the array itself; its first {@link #length} bytes are valid. The next write may replace the array. */
  public byte[] array() {
    return array;
  }

  /** Returns how many bytes are written. */
  public int length() {
    return length;
  }

  /** Removes all bytes. */
  public Bytes clear() {
    length = 0;
    return this;
  }

  /** Returns a copy of the bytes written. */
  public byte[] toArray() {
    return Arrays.copyOf(array, length);
  }

  /** Grows the written part by a number of bytes, and returns the index of the first. */
  private int grow(int by) {
    int at = length;
    if (by > array.length - at) {
      array = Arrays.copyOf(array, Math.max(Math.addExact(at, by), (int) Math.min(Integer.MAX_VALUE - 8L, at * 2L)));
    }
    length = at + by;
    return at;
  }

  /** Appends a number of one byte. */
  public Bytes u8(int value) {
    int at = grow(1);
    array[at] = (byte) value;
    return this;
  }

  /** Appends a number of two bytes. */
  public Bytes u16(int value) {
    int at = grow(2);
    array[at] = (byte) (value >>> 8);
    array[at + 1] = (byte) value;
    return this;
  }

  /** Appends a number of four bytes. */
  public Bytes u32(int value) {
    int at = grow(4);
    array[at] = (byte) (value >>> 24);
    array[at + 1] = (byte) (value >>> 16);
    array[at + 2] = (byte) (value >>> 8);
    array[at + 3] = (byte) value;
    return this;
  }

  /** Appends a number of eight bytes. */
  public Bytes u64(long value) {
    return u32((int) (value >>> 32)).u32((int) value);
  }

  /** Appends a number of eight bytes that may be negative, encoded so that the bytes sort as the numbers do. */
  public Bytes ordered(long value) {
    return u64(value ^ Long.MIN_VALUE);
  }

  /** Appends a number as a varint: seven bits a byte, the least significant first. */
  public Bytes varint(int value) {
    int rest = value;
    while ((rest & ~0x7F) != 0) {
      u8(rest | 0x80);
      rest >>>= 7;
    }
    return u8(rest);
  }

  /** Appends a number that is mostly near zero, on either side, as a zigzag varint. */
  public Bytes near(long value) {
    long rest = (value << 1) ^ (value >> 63);
    while ((rest & ~0x7FL) != 0) {
      u8((int) rest | 0x80);
      rest >>>= 7;
    }
    return u8((int) rest);
  }

  /** Appends a range of bytes. */
  public Bytes bytes(byte[] from, int offset, int count) {
    int at = grow(count);
    System.arraycopy(from, offset, array, at, count);
    return this;
  }

  /** Appends bytes. */
  public Bytes bytes(byte[] from) {
    return bytes(from, 0, from.length);
  }

  /** Appends the contents of another buffer. */
  public Bytes bytes(Bytes from) {
    return bytes(from.array, 0, from.length);
  }

  /** Appends the length of a text in UTF-8 as a varint, and then the text. */
  public Bytes text(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return varint(utf8.length).bytes(utf8);
  }

  /** Appends a text after its length in two bytes, which scripts decode more easily than a varint. */
  public Bytes text16(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    if (utf8.length > 0xFFFF) {
      throw new IllegalArgumentException("a text of a record has at most 65535 bytes: bytes=" + utf8.length);
    }
    return u16(utf8.length).bytes(utf8);
  }

  /** Appends the 16 bytes of a task's id. */
  public Bytes id(TaskId id) {
    return u64(id.high()).u64(id.low());
  }

  /** Overwrites the four bytes from index {@code at} on with a number in little-endian order. */
  public void overwriteLittleEndian32(int at, int value) {
    array[at] = (byte) value;
    array[at + 1] = (byte) (value >>> 8);
    array[at + 2] = (byte) (value >>> 16);
    array[at + 3] = (byte) (value >>> 24);
  }
}
