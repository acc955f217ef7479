package io.foliot.core;

/**
 * The reason why a task has not fired, or the way in which it ended. The {@link Scheduler.Explanation} has the figures;
 * user interfaces turn both into text.
 */
public enum TaskReason {
  /** Its queue does not exist; the task fires once the queue is created. */
  QUEUE_MISSING,
  /** It is not due yet. */
  NOT_DUE,
  /** An attempt failed, and the next one waits for its backoff. */
  BACKOFF,
  /** Its queue is paused. */
  QUEUE_PAUSED,
  /** No worker pulls tasks of its queue. */
  NO_WORKER,
  /** This node has no delivery of the queue's type. */
  NO_DELIVERY,
  /** This node has no handler for the queue; a node that has one fires the task. */
  NO_HANDLER,
  /** All permits that this node has of the queue's permits in the cluster are in use. */
  NODE_PERMITS_IN_USE,
  /** All permits of the queue are in use. */
  PERMITS_IN_USE,
  /** The queue's rate allows no attempt at the moment. */
  RATE_REACHED,
  /** This node has as many attempts under way as its delivery takes. */
  DELIVERY_FULL,
  /** Its destination fails and gets one trial attempt at a time. */
  DESTINATION_PROBED,
  /** The attempts to its destination have reached the destination's limit. */
  DESTINATION_FULL,
  /** It waits for a worker that its address permits. */
  ADDRESSED,
  /** It is parked behind other tasks of its queue. */
  PARKED,
  /** Other tasks wait in the lane of its queue. */
  LANE_WAITS,
  /** It is due, nothing prevents it from running, and it is about to be claimed. */
  ABOUT_TO_FIRE,
  /** An attempt runs. */
  RUNNING,
  /** No end of its attempt was reported before the lease ended; the task will be claimed again. */
  LEASE_ENDED,
  /** It is cancelled as soon as the running attempt has failed or its lease has ended. */
  CANCEL_REQUESTED,
  /** A newer generation takes over after the running attempt. */
  SUCCESSOR_WAITS,
  /** It has fired. */
  FIRED,
  /** It is a dead letter; a redrive brings it back. */
  DEAD_LETTER,
  /** It was cancelled. */
  CANCELLED
}
