package io.foliot.core.store.batch;

import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import org.jspecify.annotations.Nullable;

/**
 * The records that a store holds, as a batch has read them or reads them now. The same record is the same object each
 * time, so that a change of its payload can be detected by identity. One thread.
 */
public interface CommittedRecords {
  /** Returns the record of a task, also one whose retention has ended, or null if there is none. */
  @Nullable
  TaskRecord record(TaskId id);

  /** Returns the id of the task that has a key, or had it last; null if none is known. */
  @Nullable
  TaskId holder(KeyName key);

  /** Returns the answer to a request, also one whose time is over, or null if none is known. */
  RecordTable.@Nullable Answered answer(RequestName request);

  /** Returns whether a newer version of Foliot wrote a live record, so that this version must not change it. */
  boolean isOfNewerVersion(TaskId id);
}
