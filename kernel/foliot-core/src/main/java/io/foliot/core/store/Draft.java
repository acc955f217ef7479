package io.foliot.core.store;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * A task to be inserted.
 *
 * @param id the id of the task, if a new task is created; the id gives the slot
 * @param queue its queue
 * @param key its key, or null
 * @param due the due time
 * @param body the payload. If null, a live task keeps its payload, and a new task has none
 * @param maxAttempts the number of attempts, or 0 for the number of the queue
 * @param onConflict the action if the key has a live task
 * @param idempotency the data that identifies a repeated request, or null
 * @param expectedGeneration the state that the key must have: {@link #ANY}, {@link #ABSENT}, or the generation of the
 *     live task. That task must be DELAYED, and the submit resets it
 */
public record Draft(TaskId id, String queue, @Nullable String key, Due due, @Nullable Body body, int maxAttempts,
    OnConflict onConflict, @Nullable Idempotency idempotency, long expectedGeneration) {
  /** Expected generation of a draft that accepts any state of its key. */
  public static final long ANY = 0;
  /** Expected generation of a draft that is refused if its key has a live task. */
  public static final long ABSENT = -1;

  /**
   * @throws IllegalArgumentException if the draft expects a state of a key, but has no key
   */
  public Draft {
    if (expectedGeneration != ANY && key == null) {
      throw new IllegalArgumentException("a draft without a key cannot expect a generation: queue=" + queue);
    }
  }

  /** Creates a draft that accepts any state of its key. */
  public Draft(TaskId id, String queue, @Nullable String key, Due due, @Nullable Body body, int maxAttempts,
      OnConflict onConflict, @Nullable Idempotency idempotency) {
    this(id, queue, key, due, body, maxAttempts, onConflict, idempotency, ANY);
  }

  /** Returns the same draft with an {@linkplain #expectedGeneration expected generation}. */
  public Draft expecting(long generation) {
    return new Draft(id, queue, key, due, body, maxAttempts, onConflict, idempotency, generation);
  }

  /**
   * The data that identifies a repeated request.
   *
   * @param key the caller's name for the request
   * @param digest the digest of the request
   */
  public record Idempotency(String key, long digest) {
    /** Retention of an idempotency key: a repeated request is recognized for 24 hours. */
    public static final long KEPT_MILLIS = 24L * 60 * 60 * 1000;
  }
}
