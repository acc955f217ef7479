package io.foliot.store.rocksdb;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A byte array that grows as it is written to; numbers are big-endian, so that they sort. One thread. */
final class Bytes {
  private byte[] array;
  private int length;

  Bytes(int capacity) {
    array = new byte[capacity];
  }

  byte[] array() {
    return array;
  }

  int length() {
    return length;
  }

  Bytes clear() {
    length = 0;
    return this;
  }

  byte[] toArray() {
    return Arrays.copyOf(array, length);
  }

  /** Makes room, and gives the place where it begins. */
  private int grow(int by) {
    int at = length;
    if (by > array.length - at) {
      array = Arrays.copyOf(array, Math.max(Math.addExact(at, by), (int) Math.min(Integer.MAX_VALUE - 8L, at * 2L)));
    }
    length = at + by;
    return at;
  }

  Bytes u8(int value) {
    int at = grow(1);
    array[at] = (byte) value;
    return this;
  }

  Bytes u16(int value) {
    int at = grow(2);
    array[at] = (byte) (value >>> 8);
    array[at + 1] = (byte) value;
    return this;
  }

  Bytes u32(int value) {
    int at = grow(4);
    array[at] = (byte) (value >>> 24);
    array[at + 1] = (byte) (value >>> 16);
    array[at + 2] = (byte) (value >>> 8);
    array[at + 3] = (byte) value;
    return this;
  }

  Bytes u64(long value) {
    return u32((int) (value >>> 32)).u32((int) value);
  }

  /** A number that may be negative, such that the bytes sort as the numbers do. */
  Bytes ordered(long value) {
    return u64(value ^ Long.MIN_VALUE);
  }

  /** Seven bits a byte, least first: what RocksDB calls a varint. */
  Bytes varint(int value) {
    int rest = value;
    while ((rest & ~0x7F) != 0) {
      u8(rest | 0x80);
      rest >>>= 7;
    }
    return u8(rest);
  }

  /** A number that is mostly near zero, on either side. */
  Bytes near(long value) {
    long rest = (value << 1) ^ (value >> 63);
    while ((rest & ~0x7FL) != 0) {
      u8((int) rest | 0x80);
      rest >>>= 7;
    }
    return u8((int) rest);
  }

  Bytes bytes(byte[] from, int offset, int count) {
    int at = grow(count);
    System.arraycopy(from, offset, array, at, count);
    return this;
  }

  Bytes bytes(byte[] from) {
    return bytes(from, 0, from.length);
  }

  Bytes bytes(Bytes from) {
    return bytes(from.array, 0, from.length);
  }

  /** A length and the UTF-8 of a text. */
  Bytes text(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return varint(utf8.length).bytes(utf8);
  }

  /** Writes over what stands there, least byte first. */
  void overwriteLittleEndian32(int at, int value) {
    array[at] = (byte) value;
    array[at + 1] = (byte) (value >>> 8);
    array[at + 2] = (byte) (value >>> 16);
    array[at + 3] = (byte) (value >>> 24);
  }
}
