package io.foliot.core;

/**
 * The reason why a task has not fired, or the way in which it ended. The {@link Scheduler.Explanation} has the figures;
 * user interfaces turn the reason and the figures into text.
 */
public enum TaskReason {
  /** The task's queue does not exist; the task fires after the queue has been created. */
  QUEUE_MISSING,
  /** The task is not due yet. */
  NOT_DUE,
  /** An attempt failed, and the backoff before the next attempt has not passed. */
  BACKOFF,
  /** The store has no room for the ends of attempts, so this node begins none. */
  STORE_FULL,
  /** The queue is paused. */
  QUEUE_PAUSED,
  /** No worker of the queue waits on this node. */
  NO_WORKER,
  /** This node has no delivery of the queue's type. */
  NO_DELIVERY,
  /** This node has no handler for the queue; a node that has one fires the task. */
  NO_HANDLER,
  /** All permits of the queue that this node has are in use; the cluster has more. */
  NODE_PERMITS_IN_USE,
  /** All permits of the queue are in use. */
  PERMITS_IN_USE,
  /** The queue's rate allows no attempt at the moment. */
  RATE_REACHED,
  /** The delivery's limit of attempts on this node leaves no room for another attempt to the destination. */
  DELIVERY_FULL,
  /** The destination has failed, and gets one trial attempt at a time. */
  DESTINATION_PROBED,
  /** The attempts to the destination have reached its limit. */
  DESTINATION_FULL,
  /** The task waits for a worker that its address permits. */
  ADDRESSED,
  /**
   * A worker of the queue calls this node and has no seat, so it gets no task with an address: its owner has its share
   * of the seats, or no seat is free.
   */
  NO_SEAT,
  /**
   * This node has lately refused a claim of the queue, because the owner of its worker has its share of the workers of
   * this node.
   */
  TOO_MANY_WORKERS,
  /** The task is parked behind other tasks of its queue. */
  PARKED,
  /** Tasks wait in the lane of the queue, and may be claimed before this task. */
  LANE_WAITS,
  /** The task is due, nothing prevents it from running, and it is about to be claimed. */
  ABOUT_TO_FIRE,
  /** An attempt runs. */
  RUNNING,
  /** The lease ended before the attempt was settled; the task will be claimed again. */
  LEASE_ENDED,
  /** The task is cancelled as soon as its running attempt ends without finishing the task, or the lease ends. */
  CANCEL_REQUESTED,
  /** A newer generation takes over after the running attempt. */
  SUCCESSOR_WAITS,
  /** The task has finished. */
  FIRED,
  /** The task is a dead letter; a redrive makes it live again. */
  DEAD_LETTER,
  /** The task was cancelled. */
  CANCELLED
}
