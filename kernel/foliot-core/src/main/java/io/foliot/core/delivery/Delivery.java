package io.foliot.core.delivery;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.core.TaskRef;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.TaskRecord;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A way to hand an attempt to its handler. Any thread may call the methods. No method blocks except {@link #close}.
 */
public interface Delivery extends AutoCloseable {
  /** Returns the {@link Target#type} of the targets of this delivery. */
  String type();

  /**
   * Checks the settings of a queue before they are accepted. The check may take some seconds, because it may resolve
   * host names.
   *
   * @return a stage that completes once the settings are accepted, and fails with {@link IllegalArgumentException} if
   *     they are refused; the message says what to do
   * @throws IllegalArgumentException if the settings are refused at once
   */
  CompletionStage<Void> check(Target target);

  /**
   * Returns the name of the destination of a target: the part that fails as a whole, such as the host or the broker.
   * Attempts to one destination share an adaptive limit.
   */
  String destination(Target target);

  /**
   * Returns how many attempts this delivery can have under way. At any time, the engine has at most this many claimed
   * tasks for this delivery. The other tasks wait in their queues, and use up no attempts. The number must not change.
   */
  default int maxInFlight() {
    return Integer.MAX_VALUE;
  }

  /**
   * Returns the queues whose attempts can be made in this process, or null if all can. The engine calls this method
   * often, so it must be fast and must always return the same object.
   */
  default @Nullable ServedQueues servedQueues() {
    return null;
  }

  /**
   * Returns the internal queues of this delivery, or an empty list. The targets of these queues have the type of this
   * delivery. Every engine with this delivery has these queues. Code fixes the settings of the queues, so no documents
   * store them. Callers of the engine can neither see nor change the queues. Called only when an engine is created.
   */
  default List<QueueConfig> internalQueues() {
    return List.of();
  }

  /**
   * Returns the task that waits for the end of a given task, or null if none waits. The waiting task is in an
   * {@linkplain #internalQueues internal queue} of this delivery. Called when a worker pulls the given task, and when
   * an attempt of this task ends. If the task then ends, the engine wakes the returned task soon afterwards. If several
   * tasks end within a tenth of a second, the waiting task is woken once. A wake-up is lost if the process ends, so the
   * waiting task must poll as well.
   *
   * @param task the given task, as it was before it ended
   * @param mark the mark that the task's handler has set, which takes effect with the end of the task
   */
  default TaskRef.@Nullable ByKey awaiting(TaskRecord task, TaskNote.Mark mark) {
    return null;
  }

  /**
   * Called once, when an engine is created, with a function that returns the settings of one of the callers' queues as
   * this node has read them most recently. The function does not block, and any thread may call it.
   */
  default void queuesKnown(Function<String, Optional<QueueConfig>> queues) {
    // Most deliveries need only the queue of an attempt.
  }

  /**
   * Called with the workers of the cluster whenever this node has read a change, on one thread at a time.
   *
   * @param nowMillis the store's time of the read, in milliseconds since 1970
   */
  default void fleetChanged(Fleet fleet, long nowMillis) {
    // Most deliveries do not deliver to workers.
  }

  /** Called when this node has seen that the store's clock was set back by a second or more. Any thread may call it. */
  default void clockSetBack() {
    // Most deliveries keep no times.
  }

  /**
   * Hands over an attempt. The attempt begins when its first byte is handed to a socket, a broker client or a handler.
   * The stage must complete with the answer, on any thread, at the latest when the target's timeout has passed. If it
   * has not completed shortly after the timeout, the engine cancels the stage and treats the attempt as failed. A stage
   * that fails has the effect of {@link Answer.Retry}.
   */
  CompletionStage<Answer> deliver(DeliveryAttempt attempt);

  /** Releases the resources of the delivery. Attempts that are under way may end as failed. */
  @Override
  void close();
}
