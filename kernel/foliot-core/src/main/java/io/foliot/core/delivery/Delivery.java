package io.foliot.core.delivery;

import io.foliot.core.QueueConfig;
import io.foliot.core.Target;
import io.foliot.core.TaskNote;
import io.foliot.core.TaskRef;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.TaskRecord;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A way to hand an attempt to its handler. Any thread may call; no method blocks but {@link #check}, which is never
 * called by an event loop.
 */
public interface Delivery extends AutoCloseable {
  /** Returns the {@link Target#type} of the targets that it delivers to. */
  String type();

  /**
   * Checks the settings of a queue before they are accepted. May take some seconds, because it may look up names.
   *
   * @throws IllegalArgumentException if they can never work; the message says what to do
   */
  void check(Target target);

  /**
   * Returns the part of a target that fails as a whole: its host, its broker. Attempts to one destination share an
   * adaptive limit.
   */
  String destination(Target target);

  /**
   * Returns how many attempts this delivery takes at once. The engine claims no more tasks for it than that; others
   * wait in their queues and keep their attempts. It does not change.
   */
  default int maxInFlight() {
    return Integer.MAX_VALUE;
  }

  /**
   * Returns the queues whose attempts can be made in this process, or null if all can. It is asked once, when an engine
   * is made.
   */
  default @Nullable ServedQueues servedQueues() {
    return null;
  }

  /**
   * Returns the queues that this delivery brings with it, whose target is of its own type. An engine with this delivery
   * always has them. Their settings are code and no documents; callers of the engine neither see nor change them. It is
   * asked once, when an engine is made.
   */
  default List<QueueConfig> internalQueues() {
    return List.of();
  }

  /**
   * Returns the task of an {@linkplain #internalQueues internal queue} that waits for the end of a task, or null. It is
   * asked about each task that an attempt or a report on this node has ended; the engine wakes what it names, a tenth
   * of a second later. The hint is lost with the process, so that what waits has to look from time to time anyway.
   *
   * @param task the task as it was before its end
   * @param mark the mark that its handler has set, which takes effect with that end
   */
  default TaskRef.@Nullable ByKey awaiting(TaskRecord task, TaskNote.Mark mark) {
    return null;
  }

  /** Tells the delivery of the workers of the cluster, whenever this node has read a change. Any thread. */
  default void fleetChanged(Fleet fleet) {
    // Most deliveries call receivers that they know.
  }

  /**
   * Hands over an attempt. It begins when its first byte is handed to a socket, a broker client or a handler. The stage
   * completes with the answer, at the latest when the target's timeout is over, on any thread; a moment later the
   * engine cancels it, and the attempt has failed. A stage that fails counts as {@link Answer.Retry}.
   */
  CompletionStage<Answer> deliver(Attempt attempt);

  /** Releases the resources of the delivery. Attempts that are under way may end as failed. */
  @Override
  void close();
}
