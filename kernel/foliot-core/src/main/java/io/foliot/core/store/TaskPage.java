package io.foliot.core.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of tasks.
 *
 * @param tasks the tasks that were found
 * @param cursor where the next page begins, or null at the end
 * @param unreadable live tasks of the page whose records this store cannot read; only {@link TaskStore#live} returns
 *     them
 */
public record TaskPage(List<TaskRecord> tasks, @Nullable String cursor, List<SetAside> unreadable) {
  /** Creates a page without unreadable tasks. */
  public TaskPage(List<TaskRecord> tasks, @Nullable String cursor) {
    this(tasks, cursor, List.of());
  }
}
