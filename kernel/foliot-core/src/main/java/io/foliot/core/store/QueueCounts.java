package io.foliot.core.store;

/**
 * The number of tasks of a queue, by state.
 *
 * @param delayed live tasks that do not run, including due tasks, parked tasks, and tasks whose lease has ended
 * @param parked the part of the delayed tasks that is parked
 * @param running tasks with a lease that has not ended
 * @param finished finished tasks that are kept
 * @param failed dead letters
 * @param cancelled cancelled tasks that are kept
 */
public record QueueCounts(long delayed, long parked, long running, long finished, long failed, long cancelled) {
  /** Counts of an empty queue. */
  public static final QueueCounts NONE = new QueueCounts(0, 0, 0, 0, 0, 0);

  /** Returns the counts after a number of leases have ended: the tasks of these leases are delayed, not running. */
  public QueueCounts ended(long leases) {
    return new QueueCounts(delayed + leases, parked, running - leases, finished, failed, cancelled);
  }

  /** Returns the number of tasks that are not final. */
  public long live() {
    return delayed + running;
  }
}
