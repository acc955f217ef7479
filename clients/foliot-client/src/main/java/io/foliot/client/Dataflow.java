package io.foliot.client;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Work that is done in rounds: items are fetched, and processed. The checkpoint of each round is kept, so that an
 * attempt continues where the last one stopped.
 *
 * <p>Once, it does one round. Streaming, it does rounds until {@link #fetch} returns nothing; then the shard has
 * succeeded. It gives way earlier if the worker stops or its time is over: then the job starts its next run at once, on
 * workers that are chosen anew, from the checkpoint. So a stream that never ends reaches workers that were added. If
 * the lease is lost it ends without a result, and the next attempt continues from the checkpoint that was stored last.
 */
public interface Dataflow<T> {
  /**
   * Returns the next items; none if there is nothing to do.
   *
   * @param checkpoint the value that the last round returned, also in an earlier attempt; null in the first round
   * @throws Exception fails the attempt
   */
  List<T> fetch(JobContext job, @Nullable String checkpoint) throws Exception;

  /**
   * Processes the items of a round. A round may be repeated after a crash: compare {@link JobContext#fence}.
   *
   * @return from where the next round fetches, at most 16 KiB in UTF-8; null to leave the checkpoint as it is
   * @throws Exception fails the attempt; the next one continues from the last checkpoint
   */
  @Nullable
  String process(JobContext job, List<T> items) throws Exception;

  /** Returns the mode of a dataflow that does one round per run. */
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
   * @param longest how long until it gives way after the round under way; the job starts its next run at once then
   */
  static Mode streaming(Duration longest) {
    return new Mode(true, DurationText.requirePositive("longest", longest));
  }

  /**
   * The number of rounds of a run.
   *
   * @param isStreaming whether it does more than one
   * @param longest how long a streaming run takes at most; zero for one round
   */
  record Mode(boolean isStreaming, Duration longest) {}
}
