package io.foliot.core.store;

import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The records of a store, as {@link TaskOperations} reads and writes them. Not thread-safe. A read sees all earlier
 * writes, whether or not they are durable.
 */
public interface RecordTable {
  /** Returns the task with an id, live or kept, or null if there is none. */
  @Nullable
  TaskRecord get(TaskId id);

  /** Returns the live task of a key, or else the key's latest task that is still kept, or null if there is none. */
  @Nullable
  TaskRecord byKey(String queue, String key);

  /**
   * Writes a record, and updates the index, the key and the counts.
   *
   * @param before the old record, as it was read; null for a new task
   * @param after the new record
   */
  void write(@Nullable TaskRecord before, TaskRecord after);

  /**
   * Ensures that the store has room for another task. A change of a task that exists needs no room. The default is for
   * a store that cannot tell beforehand.
   *
   * @throws StoreFullException if it has not
   */
  default void ensureRoom() {}

  /** Returns the answer to an earlier request, or null if no answer is kept. */
  @Nullable
  Answered answered(String queue, @Nullable String key, String idempotencyKey);

  /** Records the answer to a request. */
  void remember(String queue, @Nullable String key, String idempotencyKey, Answered answered);

  /**
   * The answer to a request with an idempotency key.
   *
   * @param digest digest of the request
   * @param result the answer
   * @param dropAt when the answer may be forgotten, in milliseconds since 1970
   */
  record Answered(long digest, SubmitResult result, long dropAt) {}
}
