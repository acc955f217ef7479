package io.foliot.core.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of tasks.
 *
 * @param tasks the tasks that were found
 * @param cursor the cursor of the next page, or null if this is the last page
 * @param unreadable tasks of the page whose records the store cannot read; always empty
 *     except for {@link TaskStore#live}
 */
public record RecordPage(List<TaskRecord> tasks, @Nullable String cursor, List<SetAside> unreadable) {
  /** Creates a page without unreadable tasks. */
  public RecordPage(List<TaskRecord> tasks, @Nullable String cursor) {
    this(tasks, cursor, List.of());
  }
}
