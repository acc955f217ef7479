package io.foliot.core.engine;

import io.foliot.core.store.TaskRecord;
import org.jspecify.annotations.Nullable;

/** A claim that this node holds, from the claim on until its permit is free again. Loop thread only. */
final class Held {
  final Lane lane;
  final TaskRecord task;
  final @Nullable Destination destination;
  final long bytes;

  /** In the wheel of leases, at the monotonic end of the lease. */
  long leaseHandle;
  long begunNanos;
  long begunMillis;
  /** The delivery has answered. */
  boolean answered;
  /** Its end is reported from outside: a worker's, or a handler's that said "later". */
  boolean reportsLater;
  /** Its end was reported and recorded. */
  boolean settled;
  boolean released;

  Held(Lane lane, TaskRecord task, @Nullable Destination destination) {
    this.lane = lane;
    this.task = task;
    this.destination = destination;
    bytes = task.body().payload().length;
  }
}
