package io.foliot.history;

import org.jspecify.annotations.Nullable;

/**
 * The request of a client.
 *
 * <p>
 * {@code notBeforeMillis} is the earliest due time that the operation may cause: the {@code dueAt} of the request, or
 * the time of its invocation plus the requested delay.
 */
public sealed interface Request {
  /** The effect of a submit on a live task of the same key. */
  enum OnConflict {
    RESET, KEEP, REJECT
  }

  record Submit(String queue, @Nullable String key, long notBeforeMillis, OnConflict onConflict,
      @Nullable String idempotencyKey) implements Request {}

  /** Creates or resets the task of a key. */
  record Reset(String queue, String key, long notBeforeMillis) implements Request {}

  /** Moves the due time of the live task of a key, and creates nothing. */
  record Touch(String queue, String key, long notBeforeMillis) implements Request {}

  record Cancel(Target target) implements Request {}

  record RunNow(Target target) implements Request {}

  /** Makes one failed task of a queue due again, or all failed tasks if {@code taskId} is null. */
  record Redrive(String queue, @Nullable String taskId) implements Request {}

  record Read(Target target) implements Request {}
}
