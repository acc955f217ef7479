package io.foliot.core.store;

/**
 * The result of a probe of a task.
 *
 * @param claimableAt when the task can be claimed: its due time, or its lease end while it runs;
 *     {@link Long#MIN_VALUE} if nothing is known, or the task is final
 * @param wakeAt the time of its index entry, which may be earlier; undefined if nothing is known
 */
public record Probed(long claimableAt, long wakeAt) {
  /** The result if nothing is known of the task, or it is final; a claim decides. */
  public static final Probed UNKNOWN = new Probed(Long.MIN_VALUE, Long.MIN_VALUE);

  /** Returns the result of a probe of a record. */
  public static Probed of(TaskRecord task) {
    return switch (task.state()) {
      case DELAYED, READY -> new Probed(task.dueAt(), task.wakeAt());
      case RUNNING -> new Probed(task.leaseEnd(), task.wakeAt());
      case FINISHED, FAILED, CANCELLED -> UNKNOWN;
    };
  }

  /** Returns whether the index entry has to be moved to the time at which the task can be claimed. */
  public boolean hasToMove() {
    return wakeAt != claimableAt;
  }
}
