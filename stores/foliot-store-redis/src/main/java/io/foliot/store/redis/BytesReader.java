package io.foliot.store.redis;

import io.foliot.core.TaskId;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reads what {@link Bytes} or a script wrote. Every method throws {@link IndexOutOfBoundsException} behind the end. */
final class BytesReader {
  private final byte[] array;
  private int at;

  BytesReader(byte[] array) {
    this(array, 0);
  }

  BytesReader(byte[] array, int at) {
    this.array = array;
    this.at = at;
  }

  private int take(int count) {
    int from = at;
    if (count < 0 || count > array.length - from) {
      throw new IndexOutOfBoundsException("the bytes end before the value does: at=" + from + ", end=" + array.length);
    }
    at = from + count;
    return from;
  }

  int u8() {
    return array[take(1)] & 0xFF;
  }

  int u16() {
    return u8() << 8 | u8();
  }

  int u32() {
    int from = take(4);
    return array[from] << 24 | (array[from + 1] & 0xFF) << 16 | (array[from + 2] & 0xFF) << 8
        | (array[from + 3] & 0xFF);
  }

  long u64() {
    return (long) u32() << 32 | (u32() & 0xFFFF_FFFFL);
  }

  byte[] bytes(int count) {
    int from = take(count);
    return Arrays.copyOfRange(array, from, from + count);
  }

  String text() {
    return text(u16());
  }

  String text(int count) {
    int from = take(count);
    return new String(array, from, count, StandardCharsets.UTF_8);
  }

  TaskId id() {
    return new TaskId(u64(), u64());
  }

  byte[] rest() {
    return bytes(array.length - at);
  }

  boolean atEnd() {
    return at == array.length;
  }
}
