package io.foliot.core.store.batch;

import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import org.jspecify.annotations.Nullable;

/**
 * The committed records of a store, which a batch has read in advance or reads on demand. All calls for one id return
 * the same object, so that a changed payload can be recognized by object identity. Not thread-safe.
 */
public interface CommittedRecords {
  /** Returns the record of a task, even if its retention has ended, or null if there is none. */
  @Nullable
  TaskRecord record(TaskId id);

  /** Returns the id of the task that has a key, or had it last; null if none is known. */
  @Nullable
  TaskId holder(KeyName key);

  /** Returns the answer to a request, even if it has expired, or null if none is known. */
  RecordTable.@Nullable Answered answer(RequestName request);

  /** Ensures that the store has room for another task, as {@link RecordTable#ensureRoom} does. */
  default void ensureRoom() {}

  /** Returns whether a task is live and a newer version of Foliot wrote its record, so that it must not be changed. */
  boolean isOfNewerVersion(TaskId id);
}
