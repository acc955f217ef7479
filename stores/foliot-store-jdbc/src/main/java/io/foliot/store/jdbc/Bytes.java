package io.foliot.store.jdbc;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A byte array that grows as it is written to. One thread. */
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

  byte[] toArray() {
    return length == array.length ? array : Arrays.copyOf(array, length);
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

  /** Seven bits a byte, least first. */
  Bytes varint(int value) {
    int rest = value;
    while ((rest & ~0x7F) != 0) {
      u8(rest | 0x80);
      rest >>>= 7;
    }
    return u8(rest);
  }

  Bytes bytes(byte[] from) {
    int at = grow(from.length);
    System.arraycopy(from, 0, array, at, from.length);
    return this;
  }

  /** A length and the UTF-8 of a text. */
  Bytes text(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return varint(utf8.length).bytes(utf8);
  }
}
