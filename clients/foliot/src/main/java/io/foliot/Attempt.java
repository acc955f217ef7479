package io.foliot;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a task. Only the thread that runs the handler may use it.
 *
 * <p>A handler sets the end of its attempt at most once, by {@link #again}, {@link #endJob}, {@link #runAgain} or
 * {@link #fail}. A second call throws {@link IllegalStateException}.
 */
public interface Attempt {
  /** Returns the task's id. */
  String id();

  /** Returns the task's key, or null if it has none. */
  @Nullable
  String key();

  /** Returns the number of the task's generation, which grows with each reset. */
  long generation();

  /** Returns the id of this firing. All attempts of a firing have the same id, so a receiver can recognize a repeat. */
  String firingId();

  /** Returns the number of this attempt, from 1. */
  int number();

  /** Returns when the task was due. */
  Instant dueAt();

  /** Returns the headers that were given at the submit. */
  Map<String, String> headers();

  /** Returns the run of a recurring job, or null if this task belongs to no run. */
  default @Nullable JobRun run() {
    return JobRun.of(headers());
  }

  /**
   * Returns the last checkpoint that this attempt or an earlier attempt of the same firing has set. If there is none,
   * returns the checkpoint that {@link #runAgain} has kept from the previous run, or null. A handler continues from the
   * checkpoint after an earlier attempt has failed or its process has died.
   */
  @Nullable
  String checkpoint();

  /**
   * Sets the checkpoint. It is stored with the end of the attempt, whether the handler returns or throws. While the
   * attempt runs, checkpoints are stored at most once a second. A checkpoint that is not stored at once is stored with
   * a later checkpoint, progress or log line, or with the end.
   *
   * @param checkpoint at most 16 KiB of UTF-8
   * @throws IllegalArgumentException if the checkpoint is larger
   */
  void checkpoint(String checkpoint);

  /**
   * Sets the progress of the work, for display. It is stored at the same times as a {@link #checkpoint(String)}.
   *
   * @param part the part that is done, from 0 to 1
   * @param message the current step, at most 200 characters
   * @throws IllegalArgumentException if the part or the message is outside its range
   */
  void progress(double part, String message);

  /**
   * Adds a line to the log, which begins with the stored log of earlier attempts of the same firing. The last 4,096
   * characters of the log are stored with the task.
   */
  void log(String line);

  /**
   * Makes the task fire again after this attempt, with the same key and payload. Has an effect only if the handler
   * returns.
   *
   * @param delay the delay from the end of this attempt; a value below 100 ms is raised to 100 ms
   */
  void again(Duration delay);

  /**
   * Ends the job of this run if the handler returns: the schedule starts no further run until the job is put again.
   * The other shards of the run finish.
   *
   * @throws IllegalStateException if the task belongs to no job
   */
  void endJob();

  /**
   * Starts the next run of the job as soon as this run has ended, if the handler returns. In the next run, the shard
   * with the same number begins with the checkpoint of this shard. The checkpoints that the job keeps for its next runs
   * have at most 8,192 characters together. A shard whose checkpoint does not fit begins without one.
   *
   * @throws IllegalStateException if the task belongs to no job
   */
  void runAgain();

  /**
   * Fails the task permanently, if the handler returns: there is no further attempt, and the task is stored as failed.
   *
   * @param reason a human-readable reason
   */
  void fail(String reason);
}
