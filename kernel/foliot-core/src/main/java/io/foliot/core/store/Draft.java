package io.foliot.core.store;

import io.foliot.core.Body;
import io.foliot.core.OnConflict;
import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * A task to be inserted.
 *
 * @param id its id, if it is a new task; the slot follows from it
 * @param queue its queue
 * @param key its key, or null
 * @param due the due time
 * @param body the payload; null keeps the payload of the live task, and means none for a new task
 * @param maxAttempts the number of attempts, or 0 for the queue's
 * @param onConflict the action if the key has a live task
 * @param idempotency to recognise a repeated request, or null
 * @param expectedGeneration the state of the key that the draft relies on: {@link #ANY}, {@link #ABSENT}, or the
 *     generation of the live task, which must be DELAYED, and is reset
 */
public record Draft(TaskId id, String queue, @Nullable String key, Due due, @Nullable Body body, int maxAttempts,
    OnConflict onConflict, @Nullable Idempotency idempotency, long expectedGeneration) {
  /** The draft relies on nothing. */
  public static final long ANY = 0;
  /** The draft relies on there being no live task with its key. */
  public static final long ABSENT = -1;

  /**
   * @throws IllegalArgumentException if the draft relies on the state of a key, but has no key
   */
  public Draft {
    if (expectedGeneration != ANY && key == null) {
      throw new IllegalArgumentException("only a draft with a key relies on a generation: queue=" + queue);
    }
  }

  /** Creates a draft that relies on nothing. */
  public Draft(TaskId id, String queue, @Nullable String key, Due due, @Nullable Body body, int maxAttempts,
      OnConflict onConflict, @Nullable Idempotency idempotency) {
    this(id, queue, key, due, body, maxAttempts, onConflict, idempotency, ANY);
  }

  /** Returns the same draft with an expected generation: {@link #ANY}, {@link #ABSENT}, or the live task's. */
  public Draft expecting(long generation) {
    return new Draft(id, queue, key, due, body, maxAttempts, onConflict, idempotency, generation);
  }

  /**
   * The data by which a repeated request is recognised.
   *
   * @param key the caller's name for the request
   * @param digest the digest of the request
   */
  public record Idempotency(String key, long digest) {
    /** Time for which a repeated request is recognised: 24 hours. */
    public static final long KEPT_MILLIS = 24L * 60 * 60 * 1000;
  }
}
