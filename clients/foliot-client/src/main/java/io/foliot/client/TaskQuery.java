package io.foliot.client;

import io.foliot.api.TaskState;
import org.jspecify.annotations.Nullable;

/**
 * Selects the tasks of a queue that a list contains. The key and the job have no index: the server reads the tasks of
 * the queue and compares them, so a page may have few tasks, or none, and still have a cursor.
 *
 * @param state the state of the tasks; null for all states
 * @param key the key of the tasks; null for tasks with any key or without a key
 * @param job the job whose shards and listeners the tasks are; null for all tasks
 */
public record TaskQuery(@Nullable TaskState state, @Nullable String key, @Nullable String job) {
  private static final TaskQuery ALL = new TaskQuery(null, null, null);

  /** Returns the query for all tasks. */
  public static TaskQuery all() {
    return ALL;
  }

  /** Returns this query for tasks in one state. */
  public TaskQuery inState(TaskState wanted) {
    return new TaskQuery(wanted, key, job);
  }

  /** Returns this query for tasks with a key. */
  public TaskQuery withKey(String wanted) {
    return new TaskQuery(state, wanted, job);
  }

  /** Returns this query for tasks of the runs of a job. {@link FoliotClient#getRun} finds those of one run faster. */
  public TaskQuery ofJob(String wanted) {
    return new TaskQuery(state, key, wanted);
  }

  ApiPath on(ApiPath path) {
    return path.query("state", state == null ? null : state.name()).query("key", key).query("job", job);
  }
}
