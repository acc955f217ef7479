package io.foliot;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One attempt at a task. For the thread that runs the handler. */
public interface Run {
  /** Returns the task's id. */
  String id();

  /** Returns the task's key, or null if it has none. */
  @Nullable
  String key();

  /** Returns the number of the task's generation, which grows with each reset. */
  long generation();

  /** Returns the name of this firing, the same for all its attempts, by which a receiver recognizes a repeat. */
  String firingId();

  /** Returns the number of this attempt, from 1. */
  int attempt();

  /** Returns when the task was due. */
  Instant dueAt();

  /** Returns the headers that were given at the submit. */
  Map<String, String> headers();

  /** Returns the run of a recurring job that this task belongs to, or null if it belongs to none. */
  default @Nullable JobRun job() {
    return JobRun.of(headers());
  }

  /**
   * Returns the last checkpoint of this firing, which this attempt or an earlier one has set, or null if none has. An
   * attempt continues from it after the earlier attempt has failed or its process has died.
   */
  @Nullable
  String checkpoint();

  /**
   * Sets the checkpoint. It is stored with the end of the attempt, whether the handler returns or throws, and before
   * that about once a second.
   *
   * @param checkpoint at most 16 KiB of UTF-8
   * @throws IllegalArgumentException if it is larger
   */
  void checkpoint(String checkpoint);

  /**
   * Reports how far the work is, for people. It is stored as {@link #checkpoint(String)} is.
   *
   * @param part from 0 to 1
   * @param message at most 200 characters
   * @throws IllegalArgumentException if one is outside its range
   */
  void progress(double part, String message);

  /** Adds a line to the log of the attempt, for people. Its last 4,096 characters are stored with the task. */
  void log(String line);

  /**
   * Requests another firing of the task after this attempt, with the same key and payload, if the handler returns.
   *
   * @param delay at least 100 ms; less becomes that
   */
  void again(Duration delay);

  /**
   * Ends the job of this run if the handler returns: no further scheduled time runs until the job is put
   * again. The other shards of the run finish.
   *
   * @throws IllegalStateException if the task belongs to no job
   */
  void endJob();

  /**
   * Starts the next run of the job as soon as this run has ended, if the handler returns. The shard with the same
   * number begins there with the checkpoint of this one; the checkpoints of all shards have 8,192 characters together,
   * and those beyond are left out.
   *
   * @throws IllegalStateException if the task belongs to no job
   */
  void runAgain();

  /**
   * Fails the task permanently, if the handler returns: there is no further attempt, and it is kept as failed.
   *
   * @param reason for people
   */
  void fail(String reason);
}
