package io.foliot.core.store;

/**
 * The result of a probe of a task.
 *
 * @param claimableAt when the task can be claimed: its due time, or its lease end while it runs; the lowest of
 *        all numbers if nothing is known, or the task is final
 * @param wakeAt where its index entry is, which may be earlier; of no meaning if nothing is known
 */
public record Probed(long claimableAt, long wakeAt) {
  /** The result if nothing is known of the task; a claim decides. */
  public static final Probed UNKNOWN = new Probed(Long.MIN_VALUE, Long.MIN_VALUE);

  /** Returns the result of a probe of a record. */
  public static Probed of(TaskRecord task) {
    return switch (task.state()) {
      case DELAYED, READY -> new Probed(task.dueAt(), task.wakeAt());
      case RUNNING -> new Probed(task.leaseEnd(), task.wakeAt());
      case FINISHED, FAILED, CANCELLED -> UNKNOWN;
    };
  }

  /** Returns whether the entry has to be moved to where the task is due. */
  public boolean hasToMove() {
    return wakeAt != claimableAt;
  }
}
