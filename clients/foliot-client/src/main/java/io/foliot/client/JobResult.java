package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The end of an attempt of a shard, as its handler decides it. A text is cut to 200 characters where it is shown. */
public sealed interface JobResult {
  /**
   * The shard has succeeded.
   *
   * @param text for people, such as {@code 412 rows}; may be empty
   */
  record Done(String text) implements JobResult {}

  /**
   * The shard has succeeded, and the job starts its next run at once, with the checkpoint of this shard.
   *
   * @param text for people; may be empty
   */
  record RunAgain(String text) implements JobResult {}

  /**
   * The shard has succeeded, and the job is over: no further scheduled time runs.
   *
   * @param text for people; may be empty
   */
  record EndJob(String text) implements JobResult {}

  /**
   * The attempt has failed, and another one follows while the shard has attempts left.
   *
   * @param reason for people
   * @param delay until the next attempt, at least the queue's backoff; null for just that
   */
  record Failed(String reason, @Nullable Duration delay) implements JobResult {
    public Failed {
      if (delay != null) {
        DurationText.requireNotNegative("delay", delay);
      }
    }
  }

  /**
   * The shard has failed, and no further attempt would help.
   *
   * @param reason for people
   */
  record GivenUp(String reason) implements JobResult {}

  /**
   * This worker cannot do the work, and another one may: the shard is attempted again after a pause that grows with
   * each attempt, from two seconds to ten minutes.
   *
   * @param reason for people
   */
  record NotHere(String reason) implements JobResult {}

  /** Returns the result of a shard that has succeeded. */
  static JobResult done() {
    return new Done("");
  }

  /** Returns the result of a shard that has succeeded, with a text for people such as {@code 412 rows}. */
  static JobResult done(String text) {
    return new Done(text);
  }

  /**
   * Returns the result of a shard that has succeeded; the job starts its next run at once, with the checkpoint of
   * this shard.
   */
  static JobResult runAgain() {
    return new RunAgain("");
  }

  /** As {@link #runAgain()}, with a text for people. */
  static JobResult runAgain(String text) {
    return new RunAgain(text);
  }

  /**
   * Returns the result of a shard that has succeeded; the job is over, for example because the cause of
   * an alarm is gone.
   */
  static JobResult endJob(String text) {
    return new EndJob(text);
  }

  /** Returns the result of a failed attempt; the next one comes after the queue's backoff. */
  static JobResult failed(String reason) {
    return new Failed(reason, null);
  }

  /** Returns the result of a failed attempt; the next one comes after a delay. */
  static JobResult failed(String reason, Duration delay) {
    return new Failed(reason, delay);
  }

  /** Returns the result of a shard that has failed and that no further attempt would help. */
  static JobResult giveUp(String reason) {
    return new GivenUp(reason);
  }

  /** Returns the result of an attempt whose worker cannot do the work, while another one may. */
  static JobResult notHere(String reason) {
    return new NotHere(reason);
  }
}
