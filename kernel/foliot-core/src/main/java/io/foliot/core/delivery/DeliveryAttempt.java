package io.foliot.core.delivery;

import io.foliot.api.JobHeaders;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.store.TaskRecord;
import java.util.Map;

/**
 * One try to hand a task to its handler.
 *
 * @param task the task as it was claimed: RUNNING, with the token that a later report must have
 * @param target the target to which the task is delivered
 * @param traceparent the W3C trace context: one span per attempt, in the trace of the firing, or in the trace of the
 *     caller if the headers of the task have a valid traceparent
 */
public record DeliveryAttempt(TaskRecord task, Target target, String traceparent) {
  /**
   * Returns an attempt to deliver a task to the target of its queue.
   *
   * @throws IllegalArgumentException if the task belongs to another queue, because this queue's receiver must not see
   *     the task
   */
  public static DeliveryAttempt of(QueueConfig queue, TaskRecord task, String traceparent) {
    if (!task.queue().equals(queue.name())) {
      throw new IllegalArgumentException("a task must be delivered to the target of its queue: task=" + task.id()
          + ", queue=" + task.queue() + ", target=" + queue.name());
    }
    return new DeliveryAttempt(task, queue.target(), traceparent);
  }

  /** Returns the name of the firing: the same for all attempts of a firing. */
  public String firingId() {
    return firingId(task);
  }

  /**
   * Returns the name of the firing to which a task belongs. For a shard of a scheduled run, it is a function of the
   * job, the scheduled time and the shard. So it is the same if the shard is inserted again, because the store has
   * forgotten writes or was restored: only the generation follows from the time of the insertion. A redrive of the
   * shard, or a further call that its receiver asked for, has another due time and is another firing.
   */
  public static String firingId(TaskRecord task) {
    Map<String, String> headers = task.body().headers();
    return headers.get(JobHeaders.JOB) == null
        ? task.id() + "-" + task.generation()
        : headers.getOrDefault(JobHeaders.FIRING, task.id().toString()) + "-" + task.firstDueAt();
  }
}
