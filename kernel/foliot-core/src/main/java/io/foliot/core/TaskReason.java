package io.foliot.core;

/**
 * The reason why a task has not fired, or its end. The {@link Scheduler.Explanation} has the figures; user interfaces
 * have the words.
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
  /** No worker asks for tasks of its pull queue. */
  NO_WORKER,
  /** This node has no delivery of the queue's type. */
  NO_DELIVERY,
  /** This node has no handler for the queue; a node that has one fires the task. */
  NO_HANDLER,
  /** This node's part of the queue's permits in the cluster is in use. */
  NODE_PERMITS_IN_USE,
  /** All permits of the queue are in use. */
  PERMITS_IN_USE,
  /** The queue's rate allows no attempt at the moment. */
  RATE_REACHED,
  /** This node has as many attempts under way as its delivery takes. */
  DELIVERY_FULL,
  /** Its destination fails and gets one trial attempt at a time. */
  DESTINATION_PROBED,
  /** Its destination has as many attempts as it bears. */
  DESTINATION_FULL,
  /** It waits for a worker that its address permits. */
  ADDRESSED,
  /** It is parked behind others of its queue. */
  PARKED,
  /** Others wait in the lane of its queue. */
  LANE_WAITS,
  /** It is due, nothing is in its way, and it is about to be claimed. */
  ABOUT_TO_FIRE,
  /** An attempt runs. */
  RUNNING,
  /** An attempt never reported; its lease has ended, and the task is claimed again. */
  LEASE_ENDED,
  /** It is cancelled as soon as the running attempt has failed. */
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
