package io.foliot.client;

import io.foliot.api.TaskNote;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The end of an attempt. */
public sealed interface Settlement {
  /** The attempt has succeeded. */
  record Ack() implements Settlement {}

  /**
   * The attempt has failed.
   *
   * @param reason a human-readable reason; may be null
   * @param delay the delay until the next attempt; null for the queue's backoff
   */
  record Nack(@Nullable String reason, @Nullable Duration delay) implements Settlement {
    public Nack {
      if (delay != null) {
        Durations.requireNotNegative("delay", delay);
      }
    }
  }

  /**
   * The attempt has succeeded, and the task fires again.
   *
   * @param after the delay, from the time of the settlement; the server raises a value below 100 ms to 100 ms
   */
  record Again(Duration after) implements Settlement {
    public Again {
      Durations.requireNotNegative("after", after);
    }
  }

  /**
   * The attempt of a job's shard has succeeded, and the job starts its next run as soon as this run has ended. In the
   * next run, the shard begins from its checkpoint.
   */
  record RunAgain() implements Settlement {}

  /** The attempt of a job's shard has succeeded, and the job is over: its schedule starts no further run. */
  record EndJob() implements Settlement {}

  /**
   * The attempt has failed, and no further attempt would help. The task is FAILED, regardless of the queue's retry
   * policy.
   *
   * @param reason a human-readable reason; may be null
   */
  record Fail(@Nullable String reason) implements Settlement {}

  /**
   * The worker has not begun the task, for example because it stops. The attempt does not count, and the task is due
   * again at once. If this happens to a task several times in a row, an attempt counts as failed nevertheless.
   *
   * @param reason a human-readable reason; may be null
   */
  record NotBegun(@Nullable String reason) implements Settlement {}

  /**
   * The end of an attempt, with the worker's note.
   *
   * @param end the end without a note
   */
  record Noted(Settlement end, TaskNote note) implements Settlement {
    public Noted {
      if (end instanceof Noted) {
        throw new IllegalArgumentException("a settlement must not have two notes: end=" + end);
      }
    }
  }

  /**
   * Returns this settlement with the worker's note.
   *
   * @throws IllegalArgumentException if this settlement has a note already
   */
  default Settlement noting(TaskNote note) {
    return new Noted(this, note);
  }

  /** Returns the settlement of an attempt that has succeeded. */
  static Settlement ack() {
    return new Ack();
  }

  /** Returns the settlement of an attempt that has succeeded; the task fires again after a delay. */
  static Settlement again(Duration after) {
    return new Again(after);
  }

  /** Returns the settlement of a shard's successful attempt; the job starts its next run when this run has ended. */
  static Settlement runAgain() {
    return new RunAgain();
  }

  /** Returns the settlement of a shard's successful attempt that ends the job. */
  static Settlement endJob() {
    return new EndJob();
  }

  /** Returns the settlement of an attempt that has failed permanently. */
  static Settlement fail(String reason) {
    return new Fail(reason);
  }

  /** Returns the settlement of an attempt that did not begin: nothing in this process has acted on the task. */
  static Settlement notBegun(String reason) {
    return new NotBegun(reason);
  }

  /** Returns the settlement of a failed attempt; the next attempt begins after the queue's backoff. */
  static Settlement nack(String reason) {
    return new Nack(reason, null);
  }

  /** Returns the settlement of a failed attempt; the next attempt begins after a delay. */
  static Settlement nack(String reason, Duration delay) {
    return new Nack(reason, delay);
  }
}
