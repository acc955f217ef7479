package io.foliot.store.jdbc;

import io.foliot.core.store.TaskRecord;
import org.jspecify.annotations.Nullable;

/**
 * What a step makes of a record: written only where the row is still the one that was read.
 *
 * @param before what was read; null if there was nothing
 * @param version of the row that was read
 * @param after what shall stand there
 * @param queue the number of its queue
 * @param part where its index entry shall stand
 */
record Change(@Nullable TaskRecord before, long version, TaskRecord after, int queue, int part) {
  /** How much there is to be written, roughly. */
  long bytes() {
    TaskRecord.Successor next = after.successor();
    return (bodyChanges() ? after.body().payload().length : 0L)
        + (next == null || next.body() == null ? 0 : next.body().payload().length);
  }

  /** Whether what the task carries is another than in the row. */
  boolean bodyChanges() {
    return before == null || before.body() != after.body();
  }
  /** What the task carries from now on, as it is written; null for what it carries. */
  byte @Nullable [] newBody() {
    return bodyChanges() ? Blobs.body(after.id(), after.key(), after.body()) : null;
  }

  /** How its claim was settled, as it is written. */
  int settledAs() {
    return after.settledAs() == null ? Codes.NO_END : Codes.of(after.settledAs());
  }
}
