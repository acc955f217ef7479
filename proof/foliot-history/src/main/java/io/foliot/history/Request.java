package io.foliot.history;

import org.jspecify.annotations.Nullable;

/**
 * The request of a client.
 *
 * <p>
 * {@code notBeforeMillis} is the earliest due time that the operation may lead to: the {@code dueAt} it gives, or its
 * invocation plus the delay.
 */
public sealed interface Request {
  /** The effect on a live task of the same key. */
  enum OnConflict {
    RESET, KEEP, REJECT
  }

  record Submit(String queue, @Nullable String key, long notBeforeMillis, OnConflict onConflict,
      @Nullable String idempotencyKey) implements Request {}

  /** Creates or resets the task of a key. */
  record Reset(String queue, String key, long notBeforeMillis) implements Request {}

  /** Pushes the due time of a live key, and creates nothing. */
  record Touch(String queue, String key, long notBeforeMillis) implements Request {}

  record Cancel(Target target) implements Request {}

  record RunNow(Target target) implements Request {}

  /** Puts one failed task of a queue, or all of them, back to work. */
  record Redrive(String queue, @Nullable String taskId) implements Request {}

  record Read(Target target) implements Request {}
}
