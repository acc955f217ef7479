package io.foliot.engine;

import io.foliot.core.Token;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.TaskStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Extensions of the leases of this node's attempts, on their way into the store. Passive; confined to the loop's
 * thread.
 *
 * <p>Guarantees: each renewal that was {@linkplain #add added} is answered once, unless its attempt was released before
 * the renewal was sent. A renewal that fails is answered with null, and this class does not send it again.
 *
 * <ol>
 * <li>Renewals wait in order of arrival; {@link #turn} sends a batch of them.
 * <li>Each answer goes to the {@link Answered} handler, with the time when the call was sent. The extended lease began
 * at that time or later.
 * </ol>
 *
 * <p>Rejected: repeating a call that failed. {@link Attempts} decides whether a repeat still makes sense.
 */
final class Renewals {
  /** A lease to extend. */
  private record Renewal(RunningAttempt attempt, Extension extension) {}

  /** Receives the answer of the store. */
  interface Answered {
    /**
     * Called when the store has answered, or when the renewal has failed.
     *
     * @param leaseMillis the requested length of the lease, which begins at {@code sentNanos} or later; 0 if the lease
     *     was to be closed
     * @param result null if the renewal failed
     */
    void answered(RunningAttempt attempt, long leaseMillis, @Nullable ExtendResult result, long sentNanos,
        long nowNanos);
  }

  private final TaskStore store;
  private final CallPipe pipe;
  private final int batch;
  private final Answered answered;
  private final Deque<Renewal> waiting = new ArrayDeque<>();

  /** @param batch the maximum number of leases that one call extends */
  Renewals(TaskStore store, Inbox inbox, StoreHealth health, int batch, Answered answered) {
    this.store = store;
    this.batch = batch;
    this.answered = answered;
    pipe = new CallPipe("renew", 1, CallPipe.Effect.WRITE, new Backoff(), inbox, health);
  }

  /** Adds a renewal. The lease of the attempt then ends {@code leaseMillis} after the store has handled the call. */
  void add(RunningAttempt attempt, long leaseMillis) {
    Token token = attempt.task.token();
    assert token != null;
    waiting.add(new Renewal(attempt, new Extension(attempt.task.id(), token, leaseMillis)));
  }

  /**
   * Adds a request to close the lease of an attempt, if the lease has ended. It is answered as a renewal by 0 ms: the
   * result has no lease end if the lease has ended, and no later extension of the lease has an effect.
   */
  void close(RunningAttempt attempt) {
    add(attempt, 0);
  }

  /** Returns true if no renewal waits to be sent, and no call is under way. */
  boolean isIdle() {
    return waiting.isEmpty() && pipe.isIdle();
  }

  /** Sends a batch, if a renewal waits, the previous call has ended and its backoff is over. */
  void turn(long nowNanos) {
    if (waiting.isEmpty() || !pipe.hasRoom(nowNanos)) {
      return;
    }
    List<Renewal> renewals = new ArrayList<>();
    while (!waiting.isEmpty() && renewals.size() < batch) {
      Renewal renewal = waiting.remove();
      if (!renewal.attempt().released) {
        renewals.add(renewal);
      }
    }
    if (!renewals.isEmpty()) {
      List<Extension> extensions = renewals.stream().map(Renewal::extension).toList();
      pipe.send(extensions.size(), nowNanos, () -> store.extend(extensions),
          (results, answeredNanos) -> answered(renewals, results, nowNanos, answeredNanos));
    }
  }

  private void answered(List<Renewal> renewals, List<@Nullable ExtendResult> results, long sentNanos, long nowNanos) {
    for (int i = 0; i < renewals.size(); i++) {
      Renewal renewal = renewals.get(i);
      ExtendResult result = results.get(i);
      ItemGuard.run(() -> answered.answered(renewal.attempt(), renewal.extension().leaseMillis(), result, sentNanos,
          nowNanos));
    }
  }
}
