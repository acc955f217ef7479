package io.foliot.core.store;

import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The records of a store that runs {@link TaskOperations}. One thread; what was written is read back at once,
 * durable or not.
 */
public interface RecordTable {
  /** The task with that id, live or kept. */
  @Nullable
  TaskRecord get(TaskId id);

  /** The live task of a key, or else the last one that is still known. */
  @Nullable
  TaskRecord byKey(String queue, String key);

  /**
   * Writes a record, and with it the index, the key, the counts.
   *
   * @param before what stood there, as it was read; null for a new task
   * @param after the new value
   */
  void write(@Nullable TaskRecord before, TaskRecord after);

  /** Returns the answer that was given to a request, or null if it is not known any more. */
  @Nullable
  Answered answered(String queue, @Nullable String key, String idempotencyKey);

  /** Remembers what was answered to a request. */
  void remember(String queue, @Nullable String key, String idempotencyKey, Answered answered);

  /**
   * The answer to a request with an idempotency key.
   *
   * @param digest of the request
   * @param result the answer
   * @param dropAt when it may be forgotten, in milliseconds since 1970
   */
  record Answered(long digest, SubmitResult result, long dropAt) {}
}
