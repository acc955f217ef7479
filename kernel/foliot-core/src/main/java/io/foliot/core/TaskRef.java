package io.foliot.core;

/** A caller's reference to a task. */
public sealed interface TaskRef {
  /** By its id. */
  record ById(TaskId id) implements TaskRef {}

  /** By its key: the live task with that key, or else the last one that is still kept. */
  record ByKey(String queue, String key) implements TaskRef {}
}
