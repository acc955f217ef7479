package io.foliot.engine;

import io.foliot.core.TaskState;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.TaskStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ends of attempts on their way into the store. Passive; confined to the loop's thread.
 *
 * <p>Guarantees: an end that was {@linkplain #add added} is sent. If the call that sends an end fails, the end is sent
 * again, unless the lease is over and the attempt was released for this reason. Each answer is handled once.
 *
 * <ol>
 * <li>Ends wait in order of arrival; {@link #turn} sends a batch of them.
 * <li>Each result goes to the {@link Recorded} handler. If the handler throws for one result, it still receives the
 * others.
 * <li>If an end gets no result, it is unknown whether the store has recorded the end. The store answers {@link
 * SettleResult.Kind#REPEATED} for an end that is sent again although it was recorded.
 * </ol>
 *
 * <p>Rejected: settling in the call that claims. A store that refuses claims or ends would then refuse both.
 */
final class Settles {
  /** Maximum number of calls under way. */
  private static final int UNDER_WAY = 2;

  /** An attempt whose end is to be recorded. */
  record Ending(RunningAttempt attempt, Settlement settlement) {}

  /** Receives the answer of the store to an end. */
  interface Recorded {
    void recorded(Ending ending, SettleResult result, long nowNanos);
  }

  private final TaskStore store;
  private final CallPipe pipe;
  private final int batch;
  private final Recorded recorded;
  private final Deque<Ending> waiting = new ArrayDeque<>();

  /** @param batch maximum number of ends that one call records */
  Settles(TaskStore store, Inbox inbox, StoreHealth health, int batch, Recorded recorded) {
    this.store = store;
    this.batch = batch;
    this.recorded = recorded;
    pipe = new CallPipe("settle", UNDER_WAY, CallPipe.Effect.WRITE, new Backoff(), inbox, health);
  }

  void add(RunningAttempt attempt, Settlement settlement) {
    waiting.add(new Ending(attempt, settlement));
  }

  /** Returns true if no end waits to be sent, and no call is under way. */
  boolean isIdle() {
    return waiting.isEmpty() && pipe.isIdle();
  }

  /** Sends a batch, if there is anything to send. */
  void turn(long nowNanos) {
    if (waiting.isEmpty() || !pipe.hasRoom(nowNanos)) {
      return;
    }
    List<Ending> endings = new ArrayList<>();
    List<Settlement> settlements = new ArrayList<>();
    while (!waiting.isEmpty() && endings.size() < batch) {
      Ending ending = waiting.remove();
      endings.add(ending);
      settlements.add(ending.settlement());
    }
    pipe.send(endings.size(), nowNanos, () -> store.settle(settlements),
        (results, answeredNanos) -> answered(endings, results, answeredNanos));
  }

  private void answered(List<Ending> endings, List<@Nullable SettleResult> results, long nowNanos) {
    for (int i = 0; i < endings.size(); i++) {
      Ending ending = endings.get(i);
      SettleResult result = results.get(i);
      if (result != null) {
        ItemGuard.run(() -> recorded.recorded(ending, result, nowNanos));
      } else if (!ending.attempt().released) {
        waiting.add(ending);
      }
    }
  }

  /** Returns the name under which the meter counts an end. */
  static String word(Outcome outcome, SettleResult result) {
    if (result.kind() == SettleResult.Kind.REPEATED) {
      return "repeated";
    }
    if (result.kind() != SettleResult.Kind.SETTLED) {
      return "stale";
    }
    if (result.state() == TaskState.CANCELLED) {
      return "cancelled";
    }
    return switch (outcome) {
      case Outcome.Finished finished -> "finished";
      case Outcome.Failed failed -> "failed";
      case Outcome.Retry retry -> "retried";
      case Outcome.Rearm rearm -> "rearmed";
    };
  }
}
