package io.foliot.sim;

/** The cases that have to come about in some run with workers: a promise that nothing threatens proves nothing. */
enum FleetCase {
  WORKER_DIED, WORKER_CAME_BACK, WORKER_CAME_UNDER_A_NEW_NAME, WORKER_JOINED, WORKER_STAYED_GONE,
  /** A worker was paused beyond its lease, and went on. */
  WORKER_STALLED, WORKER_CUT_OFF,
  /** A worker polls another node, once its poll is over. */
  WORKER_MOVED,
  /** A worker polls another node, and the first one does not know. */
  POLL_ABANDONED, WORKER_DISABLED, WORKER_ENABLED, ZONE_VANISHED,
  /** No node ran for longer than a seat rests. */
  SEATS_RESTED,
  /** Two nodes had different workers in their fleets. */
  NODES_DISAGREED,
  /** A run was planned from a fleet that was not the stored one any more. */
  PLANNED_FROM_AN_OLD_FLEET,
  /** A run was planned although no worker was known. */
  PLANNED_WITHOUT_WORKERS, BEGAN_ANYWHERE, BEGAN_IN_ZONE, BEGAN_AT_ITS_SEAT, BEGAN_AT_A_SUBSTITUTE, BEGAN_AT_A_SUBSTITUTE_OF_THE_ZONE, BEGAN_AT_THE_ONLY_ONE,
  /** A task for one worker only began at another one, whose seat that is since. */
  BEGAN_AT_A_LATER_OWNER,
  /** A worker that is undisturbed was given a task of its seat: no other worker may be. */
  SEAT_WAS_BINDING,
  /** A worker was given tasks on behalf of others while a disabled one polled, and would have been judged. */
  DISABLED_WORKER_POLLED, LEASE_LOST, LEASE_EXTENDED, EXTENSION_REFUSED, REPORT_TAKEN, REPORT_REFUSED, FAILED_ATTEMPT, SEAT_LEFT, SEAT_GIVEN_BACK, SEAT_GIVEN_TO_ANOTHER,
  /** A task still waits at the end, because its only worker is gone. */
  WAITS_FOR_THE_ONLY_ONE
}
