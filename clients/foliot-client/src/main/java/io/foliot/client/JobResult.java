package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The result that a handler returns for an attempt of a shard. At most 200 characters of a text and at most 256
 * characters of a reason are stored.
 */
public sealed interface JobResult {
  /**
   * The shard has succeeded.
   *
   * @param text a human-readable text, such as {@code 412 rows}; may be empty
   */
  record Done(String text) implements JobResult {}

  /**
   * The shard has succeeded, and the job starts its next run as soon as this run has ended. In the next run, the shard
   * with the same number begins from the checkpoint of this shard.
   *
   * @param text a human-readable text; may be empty
   */
  record RunAgain(String text) implements JobResult {}

  /**
   * The shard has succeeded, and the job is over: its schedule starts no further run.
   *
   * @param text a human-readable text; may be empty
   */
  record EndJob(String text) implements JobResult {}

  /**
   * The attempt has failed, and another attempt follows while the shard has attempts left.
   *
   * @param reason a human-readable reason
   * @param delay the delay until the next attempt; null for the queue's backoff
   */
  record Failed(String reason, @Nullable Duration delay) implements JobResult {
    public Failed {
      if (delay != null) {
        Durations.requireNotNegative("delay", delay);
      }
    }
  }

  /**
   * The shard has failed, and no further attempt follows, because none would help.
   *
   * @param reason a human-readable reason
   */
  record GivenUp(String reason) implements JobResult {}

  /**
   * This worker cannot do the work, but another worker may. The shard is attempted again after a pause that grows with
   * each attempt, from two seconds to ten minutes.
   *
   * @param reason a human-readable reason
   */
  record NotHere(String reason) implements JobResult {}

  /** Returns the result of a shard that has succeeded. */
  static JobResult done() {
    return new Done("");
  }

  /** Returns the result of a shard that has succeeded, with a human-readable text such as {@code 412 rows}. */
  static JobResult done(String text) {
    return new Done(text);
  }

  /**
   * Returns the result of a shard that has succeeded. The job starts its next run as soon as this run has ended. In the
   * next run, the shard begins from its checkpoint.
   */
  static JobResult runAgain() {
    return new RunAgain("");
  }

  /** Returns a result as {@link #runAgain()} does, with a human-readable text. */
  static JobResult runAgain(String text) {
    return new RunAgain(text);
  }

  /**
   * Returns the result of a shard that has succeeded and ends the job, for example because the cause of an alarm is
   * gone.
   */
  static JobResult endJob(String text) {
    return new EndJob(text);
  }

  /** Returns the result of a failed attempt; the next attempt begins after the queue's backoff. */
  static JobResult failed(String reason) {
    return new Failed(reason, null);
  }

  /** Returns the result of a failed attempt; the next attempt begins after a delay. */
  static JobResult failed(String reason, Duration delay) {
    return new Failed(reason, delay);
  }

  /** Returns the result of a shard that has failed; no further attempt follows, because none would help. */
  static JobResult giveUp(String reason) {
    return new GivenUp(reason);
  }

  /** Returns the result of an attempt on a worker that cannot do the work; another worker may be able to. */
  static JobResult notHere(String reason) {
    return new NotHere(reason);
  }
}
