package io.foliot.core;

import io.foliot.api.JobHeaders;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Names tasks in log lines, so that a line leads to its task, and the task of a job's run to the run. */
public final class TaskLabel {
  private TaskLabel() {}

  /**
   * Returns the id of a task, its key if it has one, and for a task of a job the job, the scheduled time and the shard.
   *
   * @param headers the headers of the task
   */
  public static String of(TaskId id, @Nullable String key, Map<String, String> headers) {
    StringBuilder label = new StringBuilder("task=").append(id);
    if (key != null) {
      label.append(", key=").append(key);
    }
    String job = headers.get(JobHeaders.JOB);
    if (job != null) {
      String phase = headers.get(JobHeaders.PHASE);
      String zone = headers.get(JobHeaders.ZONE);
      label.append(", job=").append(job).append(", scheduledAt=").append(headers.get(JobHeaders.SCHEDULED_AT))
          .append(phase == null ? ", shard=" + headers.get(JobHeaders.SHARD) : ", phase=" + phase)
          .append(zone == null ? "" : ", zone=" + zone);
    }
    return label.toString();
  }
}
