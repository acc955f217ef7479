package io.foliot.sim;

/** The cases of runs with workers. Each case must occur in some runs: a case that no run reaches is not tested. */
enum FleetCase {
  WORKER_DIED, WORKER_CAME_BACK, WORKER_CAME_UNDER_A_NEW_NAME, WORKER_JOINED, WORKER_STAYED_GONE,
  /** A worker was paused beyond its lease, and resumed. */
  WORKER_STALLED, WORKER_CUT_OFF,
  /** A worker without a poll in flight moved to another node. */
  WORKER_MOVED,
  /** A worker moved to another node while the first node still held a poll of the worker. */
  POLL_ABANDONED, WORKER_DISABLED, WORKER_ENABLED, ZONE_VANISHED,
  /** All nodes were down for longer than a free seat is kept. */
  SEATS_RESTED,
  /** Two nodes had different workers in their fleets. */
  NODES_DISAGREED,
  /** A run was planned from a fleet that was older than the stored one. */
  PLANNED_FROM_AN_OLD_FLEET,
  /** A run was planned although no worker was known. */
  PLANNED_WITHOUT_WORKERS, BEGAN_ANYWHERE, BEGAN_IN_ZONE, BEGAN_AT_ITS_SEAT, BEGAN_AT_A_SUBSTITUTE, BEGAN_AT_A_SUBSTITUTE_OF_THE_ZONE, BEGAN_AT_THE_ONLY_ONE,
  /** When a task began, its seat had an undisturbed worker, so no other worker was permitted to run the task. */
  SEAT_WAS_BINDING,
  /** A task began while a disabled worker polled, so the check of disabled workers applied. */
  DISABLED_WORKER_POLLED, LEASE_LOST, LEASE_EXTENDED, EXTENSION_REFUSED, REPORT_TAKEN, REPORT_REFUSED, TASK_GIVEN_BACK, FAILED_ATTEMPT, SEAT_KEPT,
  /** The seats were written soon after another machine was suspended, while a live worker had a seat. */
  SEAT_KEPT_BESIDE_A_SUSPENSION, SEAT_LEFT, SEAT_GIVEN_BACK, SEAT_GIVEN_TO_ANOTHER,
  /** A task still waited at the end of the run, because its only worker was gone. */
  WAITS_FOR_THE_ONLY_ONE,
  /** Such a task waited although another worker had the seat. */
  IGNORED_BY_A_LATER_OWNER
}
