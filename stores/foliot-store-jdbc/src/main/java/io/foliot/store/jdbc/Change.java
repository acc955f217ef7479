package io.foliot.store.jdbc;

import io.foliot.api.Body;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.RecordChange;
import org.jspecify.annotations.Nullable;

/**
 * A change of a row, to be written only if the row still has the version that was read.
 *
 * @param change the change of the record
 * @param version the version of the row that was read; 0 if there was no row
 * @param queue the number of the task's queue
 * @param part the index partition for the task's index entry
 */
record Change(RecordChange change, long version, int queue, int part) {
  @Nullable
  TaskRecord before() {
    return change.before();
  }

  TaskRecord after() {
    return change.after();
  }

  /** Returns the size of the payloads to be written, in bytes. */
  long bytes() {
    Body next = after().successorBody();
    return (change.changesBody() ? after().body().payload().length : 0L) + (next == null ? 0 : next.payload().length);
  }

  /** Returns the encoded payload to be written, or null if it does not change. */
  byte @Nullable [] newBody() {
    return change.changesBody() ? Blobs.body(after().id(), after().key(), after().body()) : null;
  }

  /** Returns the code of the latest claim's settlement, or {@link ColumnCodes#NO_END} if there is no settlement. */
  int settledAs() {
    return after().settledAs() == null ? ColumnCodes.NO_END : ColumnCodes.of(after().settledAs());
  }
}
