package io.foliot.store.rocksdb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reads what {@link Bytes} wrote. Every method throws {@link IndexOutOfBoundsException} behind the end. */
final class BytesReader {
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private final byte[] array;
  private final int end;
  private int at;

  BytesReader(byte[] array, int offset, int length) {
    this.array = array;
    at = offset;
    end = offset + length;
  }

  BytesReader(byte[] array) {
    this(array, 0, array.length);
  }

  static int u16(byte[] array, int at) {
    return (array[at] & 0xFF) << 8 | (array[at + 1] & 0xFF);
  }

  static int u32(byte[] array, int at) {
    return (int) INT.get(array, at);
  }

  static long u64(byte[] array, int at) {
    return (long) LONG.get(array, at);
  }

  static long ordered(byte[] array, int at) {
    return u64(array, at) ^ Long.MIN_VALUE;
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

  int u16() {
    return u16(array, take(2));
  }

  int u32() {
    return u32(array, take(4));
  }

  long u64() {
    return u64(array, take(8));
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

  /** A number of up to 64 bits, as RocksDB writes it. */
  long varlong() {
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

  long near() {
    long value = varlong();
    return (value >>> 1) ^ -(value & 1);
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
