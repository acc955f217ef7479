package io.foliot;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One attempt at a task. For the thread that runs the handler. */
public interface Run {
  /** The task's id. */
  String id();

  /** The task's key, or null if it has none. */
  @Nullable
  String key();

  /** The number of the task's generation, which grows with each reset. */
  long generation();

  /** The name of this firing, the same for all its attempts: what an idempotent receiver remembers. */
  String firingId();

  /** The number of this attempt, from 1. */
  int attempt();

  /** When the task was due. */
  Instant dueAt();

  /** The headers that were given at the submit. */
  Map<String, String> headers();

  /**
   * Has the task fire again after this attempt, with the same key and payload, if the handler returns.
   *
   * @param delay at least 100 ms; less becomes that
   */
  void again(Duration delay);

  /**
   * Has the task fail for good, if the handler returns: there is no further attempt, and it is kept as failed.
   *
   * @param reason for people
   */
  void fail(String reason);
}
