package io.foliot.core.delivery;

import io.foliot.core.QueueConfig;
import io.foliot.core.Target;
import io.foliot.core.store.TaskRecord;

/**
 * One try to hand a task to its handler.
 *
 * @param task the task as it was claimed: RUNNING; a late report must have its token
 * @param target where to
 * @param traceparent the trace context of W3C, one trace per firing and one span per attempt
 */
public record Attempt(TaskRecord task, Target target, String traceparent) {
  /**
   * Returns an attempt to deliver a task to the target of its own queue.
   *
   * @throws IllegalArgumentException if the task is another queue's: nothing of it may reach this one's receiver
   */
  public static Attempt of(QueueConfig queue, TaskRecord task, String traceparent) {
    if (!task.queue().equals(queue.name())) {
      throw new IllegalArgumentException("a task is delivered to the target of its own queue: task=" + task.id()
          + ", queue=" + task.queue() + ", target=" + queue.name());
    }
    return new Attempt(task, queue.target(), traceparent);
  }

  /** Returns the name of the firing: the same for all attempts of a generation. */
  public String firingId() {
    return firingId(task);
  }

  /** Returns the name of the firing to which a task belongs. */
  public static String firingId(TaskRecord task) {
    return task.id() + "-" + task.generation();
  }
}
