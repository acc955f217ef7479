package io.foliot.core.store;

/**
 * The number of tasks of a queue, by state.
 *
 * @param delayed not running; parked and due ones included
 * @param parked of these, set aside
 * @param running claimed
 * @param finished kept after success
 * @param failed kept as dead letters
 * @param cancelled kept after a cancel
 */
public record QueueCounts(long delayed, long parked, long running, long finished, long failed, long cancelled) {
  /** Counts of an empty queue. */
  public static final QueueCounts NONE = new QueueCounts(0, 0, 0, 0, 0, 0);

  /** Returns how many are not final. */
  public long live() {
    return delayed + running;
  }
}
