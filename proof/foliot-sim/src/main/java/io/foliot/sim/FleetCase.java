package io.foliot.sim;

/** The cases that must occur in some run with workers. A promise that no event threatens is not tested. */
enum FleetCase {
  WORKER_DIED, WORKER_CAME_BACK, WORKER_CAME_UNDER_A_NEW_NAME, WORKER_JOINED, WORKER_STAYED_GONE,
  /** A worker was paused beyond its lease, and resumed. */
  WORKER_STALLED, WORKER_CUT_OFF,
  /** A worker that had no poll under way polls another node. */
  WORKER_MOVED,
  /** A worker polls another node, while the first node still holds its poll. */
  POLL_ABANDONED, WORKER_DISABLED, WORKER_ENABLED, ZONE_VANISHED,
  /** No node ran for longer than a seat rests. */
  SEATS_RESTED,
  /** Two nodes had different workers in their fleets. */
  NODES_DISAGREED,
  /** A run was planned from a fleet that was older than the stored one. */
  PLANNED_FROM_AN_OLD_FLEET,
  /** A run was planned although no worker was known. */
  PLANNED_WITHOUT_WORKERS, BEGAN_ANYWHERE, BEGAN_IN_ZONE, BEGAN_AT_ITS_SEAT, BEGAN_AT_A_SUBSTITUTE, BEGAN_AT_A_SUBSTITUTE_OF_THE_ZONE, BEGAN_AT_THE_ONLY_ONE,
  /** A task for one worker only began at another worker, which has got that seat since. */
  BEGAN_AT_A_LATER_OWNER,
  /** A task began whose seat had an undisturbed worker, so that no other worker may run it. */
  SEAT_WAS_BINDING,
  /** A task began while a disabled worker polled, so that the check of disabled workers was in force. */
  DISABLED_WORKER_POLLED, LEASE_LOST, LEASE_EXTENDED, EXTENSION_REFUSED, REPORT_TAKEN, REPORT_REFUSED, FAILED_ATTEMPT, SEAT_LEFT, SEAT_GIVEN_BACK, SEAT_GIVEN_TO_ANOTHER,
  /** A task still waits at the end, because its only worker is gone. */
  WAITS_FOR_THE_ONLY_ONE
}
