package io.foliot.core.store;

/**
 * The result of a probe of a task.
 *
 * @param claimableAt when the task can be claimed: its due time, or its lease end while it runs, in milliseconds since
 *     1970; {@link Long#MIN_VALUE} if nothing is known of the task, or the task is final
 * @param wakeAt the time of the task's index entry, which may be earlier; undefined if {@code claimableAt} is
 *     {@link Long#MIN_VALUE}
 */
public record Probed(long claimableAt, long wakeAt) {
  /**
   * The result if nothing is known of the task, or if the task is final. Only a claim can distinguish the two cases.
   */
  public static final Probed UNKNOWN = new Probed(Long.MIN_VALUE, Long.MIN_VALUE);

  /** Returns the result of a probe of a record. */
  public static Probed of(TaskRecord task) {
    return switch (task.state()) {
      case DELAYED, READY -> new Probed(task.dueAt(), task.wakeAt());
      case RUNNING -> new Probed(task.leaseEnd(), task.wakeAt());
      case FINISHED, FAILED, CANCELLED -> UNKNOWN;
    };
  }

  /** Returns whether the index entry must move to the time at which the task can be claimed. */
  public boolean hasToMove() {
    return wakeAt != claimableAt;
  }
}
