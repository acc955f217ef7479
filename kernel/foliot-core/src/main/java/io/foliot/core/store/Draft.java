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
 * @param due when
 * @param body what it carries; null keeps what the live task carries, or nothing
 * @param maxAttempts instead of the queue's, or 0
 * @param onConflict what to do when the key has a live task
 * @param idempotency to recognise a repeated request, or null
 */
public record Draft(TaskId id, String queue, @Nullable String key, Due due, @Nullable Body body, int maxAttempts,
    OnConflict onConflict, @Nullable Idempotency idempotency) {

  /**
   * The data by which a repeated request is recognised.
   *
   * @param key the caller's name for the request
   * @param digest of what was asked for
   */
  public record Idempotency(String key, long digest) {
    /** Time for which a repeated request is recognised: 24 hours. */
    public static final long KEPT_MILLIS = 24L * 60 * 60 * 1000;
  }
}
