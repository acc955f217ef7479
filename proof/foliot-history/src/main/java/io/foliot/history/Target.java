package io.foliot.history;

/** The task or key that an operation names. */
public sealed interface Target {
  /** The task of this id, in any generation. */
  record Task(String taskId) implements Target {}

  /** The task that is live under this key. */
  record Key(String queue, String key) implements Target {}
}
