package io.foliot.store.rocksdb;

import io.foliot.core.TaskId;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.EnumCodes;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The layout of the keys of all families, and of small values. */
final class Layout {
  // Lengths of keys, and offsets in them, in bytes.
  static final int INDEX_KEY = 26;
  static final int INDEX_WAKE_AT = 2;
  static final int INDEX_ID_AT = 10;
  static final int PARKED_KEY = 28;
  static final int PARKED_WAKE_AT = 4;
  static final int PARKED_ID_AT = 12;
  static final int HISTORY_KEY = 21;
  static final int HISTORY_ID_AT = 5;

  // The first byte of keys in the family META. The comment of each constant shows the rest of the key, and the value.
  /** The number of a queue → the name of the queue. */
  static final int META_QUEUE = 'q';
  /** The number of a queue → the counts of its live tasks, by state. */
  static final int META_LIVE = 'c';
  /** A bucket and the number of a queue → the counts of final tasks of the queue in the bucket, by state. */
  static final int META_KEPT = 'h';

  // Whole keys in the family META.
  /** The key of the format version. */
  static final byte[] META_FORMAT = text("format");
  /** The key of the number of slots. */
  static final byte[] META_SLOTS = text("slots");
  /** The key of the floor. All generations given out so far are smaller than the floor. */
  static final byte[] META_FLOOR = text("floor");
  /** The key of the highest version that was ever assigned to a document. */
  static final byte[] META_DOCUMENT_VERSION = text("version");

  /** The number that {@link #answer} writes in place of the length of the task's key if the task has no key. */
  private static final int NO_KEY = 0xFFFF;
  /** Binary logarithm of the width of a bucket of answers, in milliseconds. The width is 9.3 hours. */
  private static final int ANSWER_EXPONENT = 25;

  private Layout() {}

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  static Bytes id(Bytes out, TaskId id) {
    return out.id(id);
  }

  static TaskId id(byte[] key, int at) {
    return new TaskId(BytesReader.u64(key, at), BytesReader.u64(key, at + 8));
  }

  static byte[] recordKey(TaskId id) {
    return id(new Bytes(16), id).array();
  }

  static Bytes index(Bytes out, int slot, long wakeAt, TaskId id) {
    return id(out.u16(slot).ordered(wakeAt), id);
  }

  static Bytes parked(Bytes out, int queue, long wakeAt, TaskId id) {
    return id(out.u32(queue).ordered(wakeAt), id);
  }

  static Bytes body(Bytes out, TaskId id, boolean ofSuccessor) {
    return id(out, id).u8(ofSuccessor ? 1 : 0);
  }

  static Bytes key(Bytes out, int queue, String key) {
    return out.u32(queue).bytes(key.getBytes(StandardCharsets.UTF_8));
  }

  static Bytes bucket(Bytes out, Bucket bucket) {
    return out.u8(bucket.kind()).u32((int) bucket.number());
  }

  static Bucket bucket(byte[] key, int at) {
    return new Bucket(key[at] & 0xFF, BytesReader.u32(key, at + 1) & 0xFFFF_FFFFL);
  }

  static Bytes history(Bytes out, Bucket bucket, TaskId id) {
    return id(bucket(out, bucket), id);
  }

  static byte[] historyKey(Bucket bucket, TaskId id) {
    return history(new Bytes(HISTORY_KEY), bucket, id).array();
  }

  static long answerBucket(long dropAt) {
    return Math.max(0, dropAt) >>> ANSWER_EXPONENT & 0xFFFF_FFFFL;
  }

  static boolean answersExpired(long bucket, long nowMillis) {
    return answerBucket(nowMillis) > bucket;
  }

  static Bytes answer(Bytes out, long bucket, int queue, @Nullable String key, String idempotencyKey) {
    out.u32((int) bucket).u32(queue);
    if (key == null) {
      out.u16(NO_KEY);
    } else {
      byte[] utf8 = key.getBytes(StandardCharsets.UTF_8);
      out.u16(utf8.length).bytes(utf8);
    }
    return out.bytes(idempotencyKey.getBytes(StandardCharsets.UTF_8));
  }

  static Bytes document(Bytes out, DocumentKind kind, String name) {
    return out.u8(EnumCodes.of(kind)).bytes(name.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the first key after all keys that have this prefix. */
  static byte[] behind(byte[] prefix) {
    byte[] next = prefix.clone();
    for (int i = next.length - 1; i >= 0; i--) {
      if (++next[i] != 0) {
        return next;
      }
    }
    throw new IllegalArgumentException("no key comes after a prefix of 0xFF bytes only");
  }
}
