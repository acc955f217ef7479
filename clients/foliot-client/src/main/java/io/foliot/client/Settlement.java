package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The end of an attempt. */
public sealed interface Settlement {
  /** The attempt has succeeded. */
  record Ack() implements Settlement {}

  /**
   * The attempt has failed.
   *
   * @param reason for people; may be null
   * @param delay until the next attempt; null for the queue's backoff
   */
  record Nack(@Nullable String reason, @Nullable Duration delay) implements Settlement {
    public Nack {
      if (delay != null) {
        DurationText.requireNotNegative("delay", delay);
      }
    }
  }

  /**
   * The attempt has succeeded, and the task fires again.
   *
   * @param after the time until then, from the settlement on; the server makes it 100 ms at least
   */
  record Again(Duration after) implements Settlement {
    public Again {
      DurationText.requireNotNegative("after", after);
    }
  }

  /**
   * The attempt of a job's shard has succeeded, and the job starts its next run at once, with the checkpoint of this
   * shard.
   */
  record RunAgain() implements Settlement {}

  /** The attempt of a job's shard has succeeded, and the job is over: no further scheduled time runs. */
  record EndJob() implements Settlement {}

  /**
   * The attempt has failed, and no further one would help: the task is FAILED, regardless of the queue's retry policy.
   *
   * @param reason for people; may be null
   */
  record Fail(@Nullable String reason) implements Settlement {}

  /**
   * An end of an attempt, with the worker's note on its work.
   *
   * @param end the end, without a note
   */
  record Noted(Settlement end, TaskNote note) implements Settlement {
    public Noted {
      if (end instanceof Noted) {
        throw new IllegalArgumentException("a settlement has one note: end=" + end);
      }
    }
  }

  /** Returns this end of the attempt, with the worker's note on its work. */
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

  /** Returns the settlement of a shard's attempt that has succeeded; the job starts its next run at once. */
  static Settlement runAgain() {
    return new RunAgain();
  }

  /** Returns the settlement of a shard's attempt that has succeeded; the job is over. */
  static Settlement endJob() {
    return new EndJob();
  }

  /** Returns the settlement of an attempt that has failed permanently. */
  static Settlement fail(String reason) {
    return new Fail(reason);
  }

  /** Returns the settlement of a failed attempt; the next one comes after the queue's backoff. */
  static Settlement nack(String reason) {
    return new Nack(reason, null);
  }

  /** Returns the settlement of a failed attempt; the next one comes after a delay. */
  static Settlement nack(String reason, Duration delay) {
    return new Nack(reason, delay);
  }
}
