package io.foliot.engine;

import io.foliot.core.Queue;
import io.foliot.core.Scheduler.Explanation;
import io.foliot.core.Scheduler.LaneStatus;
import io.foliot.core.TaskState;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Says in plain words why a task has not fired. */
final class Explainer {
  private Explainer() {}

  static Explanation explain(TaskRecord task, @Nullable LaneStatus lane, long nowNanos, QueueRegistry registry,
      long nowMillis,
      int slot,
      String node) {
    Queue queue = registry.queue(task.queue());
    Delivery delivery = queue == null ? null : registry.serving(queue);
    Destination destination = queue == null || delivery == null ? null : registry.destination(delivery, queue);
    List<String> reasons = new ArrayList<>();
    TaskState state = task.stateAt(nowMillis);
    if (queue == null && task.isLive()) {
      reasons.add("its queue does not exist; the task fires once it is created: PUT /v1/queues/" + task.queue());
    }
    switch (state) {
      case DELAYED -> delayed(task, nowMillis, reasons);
      case READY -> ready(task, queue, delivery, destination, lane, nowNanos, registry, nowMillis, reasons);
      case RUNNING -> running(task, nowMillis, reasons);
      case FINISHED -> reasons.add("it has fired: " + lastAttempt(task));
      case FAILED -> reasons.add("it is a dead letter after " + task.attempt() + " attempts: " + task.reason()
          + "; POST .../redrive brings it back");
      case CANCELLED -> reasons.add("it was cancelled at " + Instant.ofEpochMilli(task.changedAt()));
    }
    return new Explanation(task, state, reasons, slot, node, lane == null ? 0 : lane.waiting(),
        lane == null ? 0 : lane.running(), destination == null ? "" : destination.name(),
        destination == null ? 0 : destination.limit(), destination == null ? 0 : destination.running());
  }

  private static void delayed(TaskRecord task, long nowMillis, List<String> reasons) {
    reasons.add("it is due in " + Duration.ofMillis(task.dueAt() - nowMillis) + ", at "
        + Instant.ofEpochMilli(task.dueAt()));
    if (task.attempt() > 0) {
      reasons.add("attempt " + task.attempt() + " failed, the next one waits for its backoff: " + lastAttempt(task));
    }
  }

  private static void ready(TaskRecord task, @Nullable Queue queue, @Nullable Delivery delivery,
      @Nullable Destination destination, @Nullable LaneStatus lane, long nowNanos, QueueRegistry registry,
      long nowMillis,
      List<String> reasons) {
    if (queue != null) {
      held(queue, delivery, destination, nowNanos, registry, reasons);
    }
    if (task.parked()) {
      reasons.add("it is parked behind others of its queue");
    } else if (lane != null && lane.waiting() > 0) {
      reasons.add(lane.waiting() + " tasks wait in the lane of its queue");
    }
    if (reasons.isEmpty()) {
      reasons.add("it has been due for " + Duration.ofMillis(nowMillis - task.dueAt()) + " and is about to be claimed");
    }
  }

  private static void held(Queue queue, @Nullable Delivery delivery, @Nullable Destination destination, long nowNanos,
      QueueRegistry registry, List<String> reasons) {
    if (queue.paused()) {
      reasons.add("its queue is paused; POST /v1/queues/" + queue.name() + "/resume");
    } else if (delivery == null && registry.shared(queue.name()).longPolls().isEmpty()) {
      reasons.add(queue.target().type().equals("pull")
          ? "no worker asks for tasks of its queue"
          : registry.delivery(queue.target()) == null
              ? "this node has no delivery of type " + queue.target().type()
              : "this node has no handler for its queue; it is fired by a node that has one");
    } else {
      limits(queue, destination, nowNanos, registry, reasons);
    }
  }

  private static void limits(Queue queue, @Nullable Destination destination, long nowNanos, QueueRegistry registry,
      List<String> reasons) {
    Permits permits = registry.shared(queue.name()).permits();
    if (permits.isFull(nowNanos)) {
      reasons.add(permits.granted() < permits.limit()
          ? "this node has " + permits.granted() + " of the " + queue.concurrency()
              + " permits of its queue in the cluster"
          : "all " + queue.concurrency() + " permits of its queue are in use");
    }
    if (permits.isStarvedByRate()) {
      reasons.add("its queue may begin " + queue.rate() + " attempts a second");
    }
    if (destination != null && destination.isOutOfPlaces()) {
      reasons.add("this node has as many attempts under way as its delivery takes");
    }
    if (destination != null && destination.isProbing()) {
      reasons.add("its destination fails; one attempt at a time probes it");
    } else if (destination != null && destination.running() >= destination.limit()) {
      reasons.add("its destination has the " + destination.limit() + " attempts it bears at the moment");
    }
  }

  private static void running(TaskRecord task, long nowMillis, List<String> reasons) {
    if (task.leaseEnd() > nowMillis) {
      reasons.add("attempt " + task.attempt() + " runs since " + Instant.ofEpochMilli(task.claimedAt())
          + "; its lease ends at " + Instant.ofEpochMilli(task.leaseEnd()));
    } else {
      reasons.add("attempt " + task.attempt() + " never reported; its lease ended at "
          + Instant.ofEpochMilli(task.leaseEnd()) + " and it is claimed again");
    }
    if (task.cancelRequested()) {
      reasons.add("it is cancelled as soon as that attempt has failed");
    }
    if (task.successor() != null) {
      reasons.add("generation " + task.successor().generation() + " takes over after that attempt, due at "
          + Instant.ofEpochMilli(task.successor().dueAt()));
    }
  }

  private static String lastAttempt(TaskRecord task) {
    if (task.attempts().isEmpty()) {
      return "no attempt is recorded";
    }
    AttemptRecord last = task.attempts().get(task.attempts().size() - 1);
    return last.end() + " at " + Instant.ofEpochMilli(last.endedAt())
        + (last.detail().isEmpty() ? "" : ", " + last.detail());
  }
}
