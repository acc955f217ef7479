package io.foliot.core;

/** A caller's reference to a task. */
public sealed interface TaskRef {
  /** A reference by the task's id. */
  record ById(TaskId id) implements TaskRef {}

  /** A reference by a key: to the live task with the key, or else to the latest task with the key that is kept. */
  record ByKey(String queue, String key) implements TaskRef {}
}
