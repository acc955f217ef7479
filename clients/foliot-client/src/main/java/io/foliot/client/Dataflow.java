package io.foliot.client;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Work that is done in rounds: each round fetches items, processes them and returns a checkpoint. The next attempt
 * continues from the latest checkpoint that the server has stored.
 *
 * <p>In the mode {@link #once}, a shard does one round. In the mode {@link #streaming}, a shard does rounds until
 * {@link #fetch} returns no items; then the shard has succeeded. A streaming shard ends earlier if the worker stops
 * or the time limit of the mode is reached. The job then starts its next run at once, from the checkpoint, and selects
 * the workers anew. A stream that never ends can therefore move to workers that were added later. If the lease is lost,
 * the attempt ends without a result, and the next attempt continues from the latest stored checkpoint.
 */
public interface Dataflow<T> {
  /**
   * Returns the next items, or an empty list if there is nothing to do.
   *
   * @param checkpoint the latest checkpoint: from this attempt, from an earlier attempt, or from the run that this run
   *     continues; null if there is none
   * @throws Exception if the fetch failed; the attempt then fails
   */
  List<T> fetch(JobContext job, @Nullable String checkpoint) throws Exception;

  /**
   * Processes the items of a round. A round is repeated if its checkpoint was not stored, for example after a crash. A
   * system that the items are written to can compare values of {@link JobContext#fence}, to refuse the writes of a
   * replaced attempt.
   *
   * @return the checkpoint for the {@link #fetch} of the next round, at most 16 KiB in UTF-8; null to keep the old
   *     checkpoint
   * @throws Exception if the round failed; the attempt then fails, and the next attempt continues from the
   *     latest stored checkpoint
   */
  @Nullable
  String process(JobContext job, List<T> items) throws Exception;

  /** Returns the mode in which each shard does one round. */
  static Mode once() {
    return new Mode(false, Duration.ZERO);
  }

  /** Returns the mode of a dataflow that continues until there is nothing to do, for five minutes at most. */
  static Mode streaming() {
    return streaming(Duration.ofMinutes(5));
  }

  /**
   * Returns the mode of a dataflow that continues until there is nothing to do.
   *
   * @param longest the time limit of a shard. When the time is over, the shard ends after its current round, and the
   *     job starts its next run at once
   * @throws IllegalArgumentException if the time limit is not positive
   */
  static Mode streaming(Duration longest) {
    return new Mode(true, Durations.requirePositive("longest", longest));
  }

  /**
   * The rule for the number of rounds of a shard.
   *
   * @param isStreaming whether a shard may do more than one round
   * @param longest the time limit of a streaming shard: no round begins later; zero for a shard of one round
   */
  record Mode(boolean isStreaming, Duration longest) {}
}
