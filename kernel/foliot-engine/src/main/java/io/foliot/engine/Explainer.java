package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler.Explanation;
import io.foliot.core.Scheduler.LaneStatus;
import io.foliot.core.TaskReason;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Explains the state of one task. Not thread-safe. */
final class Explainer {
  private final QueueRegistry registry;
  private final TaskRecord task;
  private final @Nullable LaneStatus lane;
  private final long nowNanos;
  private final long nowMillis;
  private final boolean isStoreFull;
  private final boolean isAddressed;
  private final @Nullable QueueConfig queue;
  private final @Nullable Delivery delivery;
  private final @Nullable Destination destination;
  private final List<TaskReason> reasons = new ArrayList<>();

  /**
   * Creates the explainer of one task.
   *
   * @param lane the lane of the task's queue on the loop of the task, or null if there is none
   * @param nowNanos the monotonic time
   * @param loops the loops, which show the store's time and health
   */
  Explainer(QueueRegistry registry, TaskRecord task, @Nullable LaneStatus lane, long nowNanos, LoopGroup loops) {
    this.registry = registry;
    this.task = task;
    this.lane = lane;
    this.nowNanos = nowNanos;
    nowMillis = loops.storeMillis();
    isStoreFull = loops.loopOf(task.id()).status().store() == StoreHealth.State.FULL;
    isAddressed = !task.id().address().isAnywhere();
    queue = registry.queue(task.queue());
    delivery = queue == null ? null : registry.serving(queue);
    destination = queue == null || delivery == null ? null : registry.destination(delivery, queue);
  }

  /** @param heldBack why workers of the queue that call this node get no tasks, or none with an address */
  Explanation explain(int slot, @Nullable String owner, Set<TaskReason> heldBack) {
    TaskState state = task.stateAt(nowMillis);
    if (queue == null && task.isLive()) {
      reasons.add(TaskReason.QUEUE_MISSING);
    }
    switch (state) {
      case DELAYED -> delayed();
      case READY -> ready(heldBack);
      case RUNNING -> running();
      case FINISHED -> reasons.add(TaskReason.FIRED);
      case FAILED -> reasons.add(TaskReason.DEAD_LETTER);
      case CANCELLED -> reasons.add(TaskReason.CANCELLED);
    }
    int granted = queue == null ? 0 : registry.shared(queue.name()).permits().granted();
    return new Explanation(task, state, reasons, nowMillis, queue, granted, slot, owner,
        lane == null ? 0 : lane.waiting(), lane == null ? 0 : lane.running(),
        destination == null ? "" : destination.name(), destination == null ? 0 : destination.limit(),
        destination == null ? 0 : destination.running());
  }

  private void delayed() {
    reasons.add(TaskReason.NOT_DUE);
    if (task.attempt() > 0) {
      reasons.add(TaskReason.BACKOFF);
    }
  }

  private void ready(Set<TaskReason> heldBack) {
    if (isStoreFull) {
      reasons.add(TaskReason.STORE_FULL);
    }
    if (queue != null) {
      held(queue);
    }
    if (!isAddressed && heldBack.contains(TaskReason.TOO_MANY_WORKERS)) {
      reasons.add(TaskReason.TOO_MANY_WORKERS);
    }
    if (isAddressed) {
      // An addressed task waits for its worker, parked or in the lane, regardless of the tasks before it.
      reasons.add(TaskReason.ADDRESSED);
      reasons.addAll(heldBack);
    } else if (task.parked() && reasons.isEmpty()) {
      reasons.add(TaskReason.PARKED);
    } else if (lane != null && lane.waiting() > 0) {
      reasons.add(TaskReason.LANE_WAITS);
    }
    if (reasons.isEmpty()) {
      reasons.add(TaskReason.ABOUT_TO_FIRE);
    }
  }

  private void held(QueueConfig known) {
    if (known.paused()) {
      reasons.add(TaskReason.QUEUE_PAUSED);
    } else if (delivery != null || !registry.shared(known.name()).longPolls().isEmpty()) {
      limits(known);
    } else if (isAddressed) {
      // The worker of the task calls another node, or is gone.
      return;
    } else if (known.target().type().equals(Target.PULL)) {
      reasons.add(TaskReason.NO_WORKER);
    } else {
      reasons.add(registry.delivery(known.target()) == null ? TaskReason.NO_DELIVERY : TaskReason.NO_HANDLER);
    }
  }

  private void limits(QueueConfig known) {
    Permits permits = registry.shared(known.name()).permits();
    if (permits.isFull(nowNanos)) {
      reasons.add(permits.granted() < permits.limit() ? TaskReason.NODE_PERMITS_IN_USE : TaskReason.PERMITS_IN_USE);
    }
    if (permits.isStarvedByRate()) {
      reasons.add(TaskReason.RATE_REACHED);
    }
    if (destination != null && destination.isOutOfPlaces()) {
      reasons.add(TaskReason.DELIVERY_FULL);
    }
    if (destination != null && destination.isOnTrial()) {
      reasons.add(TaskReason.DESTINATION_PROBED);
    } else if (destination != null && destination.running() >= destination.limit()) {
      reasons.add(TaskReason.DESTINATION_FULL);
    }
  }

  private void running() {
    reasons.add(task.leaseEnd() > nowMillis ? TaskReason.RUNNING : TaskReason.LEASE_ENDED);
    if (task.cancelRequested()) {
      reasons.add(TaskReason.CANCEL_REQUESTED);
    }
    if (task.successor() != null) {
      reasons.add(TaskReason.SUCCESSOR_WAITS);
    }
  }
}
