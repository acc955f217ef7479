package io.foliot.server.api;

import io.foliot.api.DurationText;
import io.foliot.api.QueueConfig;
import io.foliot.core.Scheduler.Explanation;
import io.foliot.core.TaskReason;
import io.foliot.core.Unready;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Explanations, in words, of the engine's codes. */
public final class EngineWords {
  private static final String NO_SEAT = "a worker of its queue has no seat, so it gets only tasks without an address: its"
      + " API key has its share of the seats, or all seats are in use; see GET /v1/workers";
  private static final String TOO_MANY_WORKERS = "this node has refused a claim of its queue within the last minute, with"
      + " 429 too-many-workers: the API key of the worker has its share of the workers of this node; see GET /v1/workers";

  private EngineWords() {}

  /**
   * Returns in words one reason for the state of a task: why the task has not fired yet, or how it has ended.
   *
   * @param why the explanation that contains the reason
   * @param fleet the workers; the name of a worker that the caller may not see is empty
   */
  static String of(TaskReason reason, Explanation why, Fleet fleet) {
    TaskRecord task = why.task();
    QueueConfig queue = why.queue();
    return switch (reason) {
      case QUEUE_MISSING ->
        "its queue does not exist; the task fires once it is created: PUT /v1/queues/" + task.queue();
      case NOT_DUE ->
        "it is due in " + time(task.dueAt() - why.nowMillis()) + ", at " + instant(task.dueAt());
      case BACKOFF ->
        "attempt " + task.attempt() + " failed; the next attempt waits for the backoff: " + lastAttempt(task);
      case STORE_FULL -> "the store has no room for the ends of attempts, so this node begins none until it has";
      case QUEUE_PAUSED -> "its queue is paused; POST /v1/queues/" + task.queue() + "/resume";
      case NO_WORKER -> "no worker of its queue waits on this node";
      case NO_DELIVERY -> "this node has no delivery of type " + (queue == null ? "" : queue.target().type());
      case NO_HANDLER -> "this node has no handler for its queue; it is fired by a node that has one";
      case NODE_PERMITS_IN_USE -> "this node has " + why.permitsGranted() + " of the " + concurrency(queue)
          + " permits of its queue in the cluster, all in use";
      case PERMITS_IN_USE -> "all " + concurrency(queue) + " permits of its queue are in use";
      case RATE_REACHED ->
        "its queue may begin " + (queue == null ? null : queue.rate()) + " attempts a second";
      case DELIVERY_FULL -> "this node has as many attempts under way as its delivery allows";
      case DESTINATION_PROBED -> "its destination fails, and gets one trial attempt at a time";
      case DESTINATION_FULL ->
        "its destination has " + why.destinationLimit() + " concurrent attempts, its current limit";
      case ADDRESSED -> AddressWords.of(task.id().address(), task.queue(), fleet);
      case NO_SEAT -> NO_SEAT;
      case TOO_MANY_WORKERS -> TOO_MANY_WORKERS;
      case PARKED -> "it is parked behind other tasks of its queue";
      case LANE_WAITS -> (why.laneWaiting() == 1 ? "one task waits" : why.laneWaiting() + " tasks wait")
          + " in the lane of its queue";
      case ABOUT_TO_FIRE -> "it has been due for " + time(why.nowMillis() - task.dueAt())
          + " and is about to be claimed";
      case RUNNING -> "attempt " + task.attempt() + " has been running since " + instant(task.claimedAt())
          + "; its lease ends at " + instant(task.leaseEnd());
      case LEASE_ENDED -> "attempt " + task.attempt() + " was not settled; its lease ended at "
          + instant(task.leaseEnd()) + " and the task is claimed again";
      case CANCEL_REQUESTED ->
        "it is cancelled as soon as that attempt ends without finishing the task, or its lease ends";
      case SUCCESSOR_WAITS -> successor(task);
      case FIRED -> "it has fired: " + lastAttempt(task);
      case DEAD_LETTER -> "it is a dead letter after " + task.attempt() + " attempts: " + task.reason()
          + "; POST .../redrive brings it back";
      case CANCELLED -> "it was cancelled at " + instant(task.changedAt());
    };
  }

  /** Returns in words why workers of a queue get no tasks, or none with an address; empty if there is no reason. */
  static String of(Set<TaskReason> heldBack) {
    return (heldBack.contains(TaskReason.NO_SEAT) ? "; " + NO_SEAT : "")
        + (heldBack.contains(TaskReason.TOO_MANY_WORKERS) ? "; " + TOO_MANY_WORKERS : "");
  }

  private static Object concurrency(@Nullable QueueConfig queue) {
    return queue == null || queue.concurrency() == null ? "" : queue.concurrency();
  }

  private static String time(long millis) {
    return DurationText.rough(Duration.ofMillis(millis));
  }

  private static Instant instant(long millis) {
    return Instant.ofEpochMilli(millis);
  }

  private static String successor(TaskRecord task) {
    TaskRecord.Successor successor = task.successor();
    return successor == null
        ? "a newer generation takes over after that attempt"
        : "generation " + successor.generation() + " takes over after that attempt, due at "
            + instant(successor.dueAt());
  }

  private static String lastAttempt(TaskRecord task) {
    if (task.attempts().isEmpty()) {
      return "no attempt is recorded";
    }
    AttemptRecord last = task.attempts().getLast();
    return last.end() + " at " + instant(last.endedAt()) + (last.message().isEmpty() ? "" : ", " + last.message());
  }

  /** Returns in words why a node is not ready. */
  static String of(Unready reason) {
    return switch (reason) {
      case Unready.Failed failed -> "the engine has failed: " + failed.cause();
      case Unready.NotStarted notStarted -> "the engine has not started";
      case Unready.Stopping stopping -> "the engine is stopping";
      case Unready.Sealed sealed -> of(sealed.seal());
      case Unready.LoopStalled stalled ->
        "event loop " + stalled.loop() + " has not completed a turn for " + stalled.millis() + " ms";
      case Unready.StoreAway away -> "the store does not answer, or refuses writes";
      case Unready.StoreFull full -> "the store is full: it has no room for the ends of attempts, so no task is"
          + " delivered; delivery continues by itself once there is room where the store keeps its data";
      case Unready.ClockOff off -> "this node's clock is " + Math.abs(off.offsetMillis()) + " ms "
          + (off.offsetMillis() > 0 ? "behind" : "ahead of")
          + " the store's, so the node owns no slots and plans no jobs;"
          + " set the clock (NTP)";
    };
  }

  /** Returns in words, for operators, why a store cannot be used, and what to do. */
  public static String of(StoreSeal seal) {
    return switch (seal.state()) {
      case DRAINING -> "the tasks of this store are being moved to " + seal.other()
          + "; use that store when the move is complete";
      case MOVED -> "the tasks of this store were moved to " + seal.other()
          + "; use that store, or open this one again with: foliot migrate --release";
      case FILLING -> "tasks of " + seal.other() + " are being moved into this store, and not all are here; let foliot"
          + " migrate continue to its end, or open this store as it is with: foliot migrate --release";
    };
  }
}
