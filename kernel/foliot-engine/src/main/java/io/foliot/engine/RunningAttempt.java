package io.foliot.engine;

import io.foliot.api.Body;
import io.foliot.api.TaskNote;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.TaskRecord;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A claim that this node has won. The object is in use until the permit of the claim is free again. Confined to the
 * loop's thread.
 */
final class RunningAttempt {
  final Lane lane;
  final @Nullable Destination destination;
  TaskRecord task;
  /** Memory charged for the attempt and its payload, in bytes; 0 once nothing on this node needs the payload. */
  long bytes;

  /** Handle in the wheel of leases, for the next renewal, the end of the timeout, or the end of the lease. */
  long leaseHandle;
  /** End of the lease by the monotonic clock. */
  long leaseEndMillis;
  /**
   * Whether the lease has ended as far as this node knows. The task is then read from the store, because another caller
   * may have extended the lease.
   */
  boolean overdue;
  /** The timeout of the delivery, or 0 if a worker has the task. */
  long timeoutMillis;
  /** Length of the lease if it is renewed while the delivery runs; 0 if the lease outlasts the timeout anyway. */
  long renewMillis;
  /** Time of the next renewal, by the monotonic clock; {@link Long#MAX_VALUE} if none is planned. */
  long nextRenewalMillis = Long.MAX_VALUE;
  /** The answer that the delivery has yet to give; null before the call and after the answer. */
  @Nullable
  CompletionStage<Answer> delivering;
  /** Start of the attempt, by the monotonic clock. */
  long begunNanos;
  /** Start of the attempt, by the store's clock. */
  long begunMillis;
  /** The note that the handler left at the end. */
  TaskNote note = TaskNote.NONE;
  /** Whether no answer of a delivery is awaited any more. */
  boolean answered;
  /**
   * Whether the end of the attempt is reported from outside: by a worker, or by a receiver that has answered
   * "accepted".
   */
  boolean reportsLater;
  /**
   * Whether a worker gets the payload. The payload is then released once the answer to the worker's call has been
   * written.
   */
  boolean handedOver;
  /** Whether a caller has reported the end, and the store has recorded it. */
  boolean settled;
  /** Whether the end of the attempt waits for room in the store. The lease is extended meanwhile. */
  boolean held;
  /** Whether the permit was given back. */
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
