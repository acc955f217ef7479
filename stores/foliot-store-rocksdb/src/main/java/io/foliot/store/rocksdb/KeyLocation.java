package io.foliot.store.rocksdb;

import io.foliot.core.TaskId;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * The location of the latest task of a key.
 *
 * @param id the task
 * @param bucket the bucket of the history that holds the task, or null while the task is live
 */
record KeyLocation(TaskId id, @Nullable Bucket bucket) {
  /** The location for a key that has no task. */
  static final KeyLocation NOWHERE = new KeyLocation(new TaskId(0, 0), null);

  /** Offset of the bucket in the value, after the task's id. The value of a live task ends there. */
  private static final int BUCKET_AT = 16;

  static KeyLocation of(TaskRecord record) {
    return new KeyLocation(record.id(), record.isLive() ? null : Bucket.of(record));
  }

  static KeyLocation decode(byte[] value) {
    return new KeyLocation(Layout.id(value, 0), value.length > BUCKET_AT ? Layout.bucket(value, BUCKET_AT) : null);
  }

  Bytes encode(Bytes out) {
    Layout.id(out, id);
    return bucket == null ? out : Layout.bucket(out, bucket);
  }
}
