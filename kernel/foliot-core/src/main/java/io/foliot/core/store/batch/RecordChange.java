package io.foliot.core.store.batch;

import io.foliot.core.TaskId;
import io.foliot.core.store.TaskRecord;
import org.jspecify.annotations.Nullable;

/** The net change that a batch makes to one record. Only the {@link RecordOverlay} of the batch sets the change. */
public final class RecordChange {
  private final @Nullable TaskRecord before;
  private TaskRecord after;

  RecordChange(@Nullable TaskRecord before, TaskRecord after) {
    this.before = before;
    this.after = after;
  }

  void setAfter(TaskRecord record) {
    after = record;
  }

  boolean isChange() {
    return after != before;
  }

  /** Returns the id of the task. */
  public TaskId id() {
    return after.id();
  }

  /** Returns the record before the batch, or null if the batch inserts it. */
  public @Nullable TaskRecord before() {
    return before;
  }

  /** Returns the record after the batch. */
  public TaskRecord after() {
    return after;
  }

  /** Returns whether the task was live before the batch. */
  public boolean wasLive() {
    return before != null && before.isLive();
  }

  /**
   * Returns whether the payload changes. Payloads are compared by identity, because a store may use a placeholder for a
   * payload that it has not read.
   */
  public boolean changesBody() {
    return before == null || before.body() != after.body();
  }
}
