package io.foliot.core.store;

/**
 * The number of tasks of a queue, by state.
 *
 * @param delayed not running: parked and due ones, and those whose lease has ended
 * @param parked those of the delayed tasks that are parked
 * @param running claimed, with a lease that runs
 * @param finished kept after success
 * @param failed kept as dead letters
 * @param cancelled kept after a cancel
 */
public record QueueCounts(long delayed, long parked, long running, long finished, long failed, long cancelled) {
  /** Counts of an empty queue. */
  public static final QueueCounts NONE = new QueueCounts(0, 0, 0, 0, 0, 0);

  /** Returns the counts with a number of running tasks counted as delayed. */
  public QueueCounts ended(long leases) {
    return new QueueCounts(delayed + leases, parked, running - leases, finished, failed, cancelled);
  }

  /** Returns how many are not final. */
  public long live() {
    return delayed + running;
  }
}
