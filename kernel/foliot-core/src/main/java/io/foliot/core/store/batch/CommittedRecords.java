package io.foliot.core.store.batch;

import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import org.jspecify.annotations.Nullable;

/**
 * The committed records of a store, which a batch has read before or reads on demand. Each call for a record returns
 * the same object, so that a change of the payload can be detected by identity. Not thread-safe.
 */
public interface CommittedRecords {
  /** Returns the record of a task, also one whose retention has ended, or null if there is none. */
  @Nullable
  TaskRecord record(TaskId id);

  /** Returns the id of the task that has a key, or had it last; null if none is known. */
  @Nullable
  TaskId holder(KeyName key);

  /** Returns the answer to a request, also an expired one, or null if none is known. */
  RecordTable.@Nullable Answered answer(RequestName request);

  /** Returns whether a newer version of Foliot wrote a live record, so that this version must not change it. */
  boolean isOfNewerVersion(TaskId id);
}
