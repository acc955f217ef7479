package io.foliot.store.jdbc;

import io.foliot.core.Body;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.RecordChange;
import org.jspecify.annotations.Nullable;

/**
 * A change of a row, to be written only where the row is still the one that was read.
 *
 * @param change the change of the record
 * @param version of the row that was read; 0 if there was none
 * @param queue the number of its queue
 * @param part where its index entry goes
 */
record Change(RecordChange change, long version, int queue, int part) {
  @Nullable
  TaskRecord before() {
    return change.before();
  }

  TaskRecord after() {
    return change.after();
  }

  /** Returns roughly how many bytes are to be written. */
  long bytes() {
    Body next = after().successorBody();
    return (change.changesBody() ? after().body().payload().length : 0L) + (next == null ? 0 : next.payload().length);
  }

  /** Returns the new payload as it is written; null if it does not change. */
  byte @Nullable [] newBody() {
    return change.changesBody() ? Blobs.body(after().id(), after().key(), after().body()) : null;
  }

  /** Returns how its claim was settled, as it is written. */
  int settledAs() {
    return after().settledAs() == null ? ColumnCodes.NO_END : ColumnCodes.of(after().settledAs());
  }
}
