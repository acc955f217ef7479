package io.foliot.engine;

import io.foliot.core.Body;
import io.foliot.core.TaskNote;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.TaskRecord;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A claim that this node holds, from the claim on until its permit is free again. Loop thread only. */
final class RunningAttempt {
  final Lane lane;
  final @Nullable Destination destination;
  TaskRecord task;
  /** Memory held by its payload, until nothing on this node needs it any more. */
  long bytes;

  /** In the wheel of leases: when it is renewed, at the end of the delivery's time, or at the end of the lease. */
  long leaseHandle;
  /** End of the lease by the monotonic clock. */
  long leaseEndMillis;
  /** The longest time of the delivery, or 0 if a worker has the task. */
  long timeoutMillis;
  /** Length of a lease that is renewed while the delivery works; 0 if it outlasts the timeout anyway. */
  long renewMillis;
  /** When the lease is to be renewed, by the monotonic clock; {@link Long#MAX_VALUE} while a call is under way. */
  long nextRenewalMillis = Long.MAX_VALUE;
  /** The attempt that the delivery has yet to answer. */
  @Nullable
  CompletionStage<Answer> delivering;
  /** Begin by the monotonic clock. */
  long begunNanos;
  /** Begin by the store's clock. */
  long begunMillis;
  /** The note that the handler left at the end. */
  TaskNote note = TaskNote.NONE;
  /** The delivery has answered. */
  boolean answered;
  /** Its end is reported from outside: by a worker, or by a handler that said "later". */
  boolean reportsLater;
  /** Its payload is on its way to a worker, and is released when it was taken. */
  boolean handedOver;
  /** Its end was reported and recorded. */
  boolean settled;
  boolean released;

  RunningAttempt(Lane lane, TaskRecord task, @Nullable Destination destination) {
    this.lane = lane;
    this.task = task;
    this.destination = destination;
    bytes = task.body().payload().length + Lane.ATTEMPT_BYTES;
  }

  /** Releases the payload, and keeps the fields that a settle and the end of the lease need. */
  void dropPayload() {
    if (task.body().payload().length > 0) {
      task = task.edit().body(Body.EMPTY).done();
    }
  }
}
