package io.foliot.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list of tasks.
 *
 * @param tasks the tasks of this page; may be empty
 * @param nextCursor the cursor of the next page; null if this page is the last
 */
public record TaskPage(List<TaskView> tasks, @Nullable String nextCursor) {
  public TaskPage {
    tasks = List.copyOf(tasks);
  }

  static TaskPage of(JsonObject json) {
    return new TaskPage(json.objects("tasks").stream().map(TaskView::of).toList(), json.textOrNull("nextCursor"));
  }
}
