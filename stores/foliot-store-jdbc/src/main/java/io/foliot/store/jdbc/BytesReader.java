package io.foliot.store.jdbc;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reads what {@link Bytes} wrote. Every method throws {@link IndexOutOfBoundsException} behind the end. */
final class BytesReader {
  private final byte[] array;
  private final int end;
  private int at;

  BytesReader(byte[] array, int offset, int length) {
    this.array = array;
    at = offset;
    end = offset + length;
  }

  private int take(int count) {
    int from = at;
    if (count < 0 || count > end - from) {
      throw new IndexOutOfBoundsException("the bytes end before the value does: at=" + from + ", end=" + end);
    }
    at = from + count;
    return from;
  }

  int u8() {
    return array[take(1)] & 0xFF;
  }

  int u32() {
    int from = take(4);
    return array[from] << 24 | (array[from + 1] & 0xFF) << 16 | (array[from + 2] & 0xFF) << 8
        | (array[from + 3] & 0xFF);
  }

  long u64() {
    return (long) u32() << 32 | (u32() & 0xFFFF_FFFFL);
  }

  int varint() {
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

  byte[] bytes(int count) {
    int from = take(count);
    return Arrays.copyOfRange(array, from, from + count);
  }

  String text() {
    int count = varint();
    int from = take(count);
    return new String(array, from, count, StandardCharsets.UTF_8);
  }

  boolean atEnd() {
    return at == end;
  }
}
