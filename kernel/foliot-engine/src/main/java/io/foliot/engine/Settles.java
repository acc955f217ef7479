package io.foliot.engine;

import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.StoreAwayException;
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
 * again, unless the lease is over and the attempt was released for this reason. Each answer is handled once. An end
 * that cannot be stored does not hold up the others.
 *
 * <ol>
 * <li>Ends wait in order of arrival; {@link #turn} sends a batch of them.
 * <li>Each result goes to the {@link Recorded} handler. If the handler throws for one result, it still receives the
 * others.
 * <li>If an end gets no result, it is unknown whether the store has recorded the end. The store answers {@link
 * SettleResult.Kind#REPEATED} for an end that is sent again although it was recorded.
 * <li>If a batch fails as a whole, each half of it is sent apart. So a single end that makes calls fail is soon alone.
 * <li>An end for which the store has no room is held, whatever its lease, and sent again after a pause. The {@link
 * RoomGate} is closed meanwhile, and {@link Attempts} keeps the lease.
 * <li>If there is no room for the tasks that an end inserts, the attempt is as if it had not been: its task is due
 * again after {@link #UNPLANNED_MILLIS}, with the same payload and without a used attempt.
 * </ol>
 *
 * <p>Rejected: settling in the call that claims. A store that refuses claims or ends would then refuse both.
 */
final class Settles {
  private static final System.Logger LOG = System.getLogger(Settles.class.getName());
  /** Maximum number of calls under way. */
  private static final int UNDER_WAY = 2;
  /** Pause after an attempt that wanted to insert tasks for which the store had no room. */
  static final long UNPLANNED_MILLIS = 1_000;

  /** An attempt whose end is to be recorded. */
  record Ending(RunningAttempt attempt, AttemptEnd settlement) {}

  /** Receives the answers to ends. */
  interface Recorded {
    /** Called with the answer of the store to an end. */
    void recorded(Ending ending, SettleResult result, long nowNanos);

    /** Called once if the end of an attempt is held because the store has no room for it. */
    default void held(RunningAttempt attempt, long nowNanos) {}
  }

  private final TaskStore store;
  private final CallPipe pipe;
  private final int batch;
  private final Recorded recorded;
  private final RoomGate gate;
  private final Deque<Ending> waiting = new ArrayDeque<>();
  /** Halves of batches that failed as a whole. Each is sent apart from all other ends. */
  private final Deque<List<Ending>> halves = new ArrayDeque<>();
  /** Ends for which the store had no room. They are sent when no other end waits and their pause is over. */
  private final Deque<Ending> held = new ArrayDeque<>();
  private final Backoff heldPause = new Backoff();
  private boolean isUnplannedLogged;

  /** @param batch maximum number of ends that one call records */
  Settles(TaskStore store, Inbox inbox, StoreHealth health, int batch, RoomGate gate, Recorded recorded) {
    this.store = store;
    this.batch = batch;
    this.gate = gate;
    this.recorded = recorded;
    pipe = new CallPipe("settle", UNDER_WAY, CallPipe.Effect.WRITE, new Backoff(), inbox, health);
  }

  void add(RunningAttempt attempt, AttemptEnd settlement) {
    waiting.add(new Ending(attempt, settlement));
  }

  /** Returns true if no end waits to be sent, and no call is under way. */
  boolean isIdle() {
    return waiting.isEmpty() && halves.isEmpty() && held.isEmpty() && pipe.isIdle();
  }

  /** Sends a batch, if there is anything to send. */
  void turn(long nowNanos) {
    if ((waiting.isEmpty() && halves.isEmpty() && held.isEmpty()) || !pipe.hasRoom(nowNanos)) {
      return;
    }
    List<Ending> endings = next(nowNanos);
    if (!endings.isEmpty()) {
      List<AttemptEnd> settlements = endings.stream().map(Ending::settlement).toList();
      pipe.send(endings.size(), nowNanos, () -> store.settle(settlements),
          (CallPipe.FailureHandler<SettleResult>) (results, failure, answeredNanos) -> answered(endings, results,
              failure, answeredNanos));
    }
  }

  private List<Ending> next(long nowNanos) {
    if (!halves.isEmpty()) {
      return halves.remove();
    }
    Deque<Ending> from = waiting.isEmpty() && heldPause.isOver(nowNanos) ? held : waiting;
    List<Ending> endings = new ArrayList<>();
    while (!from.isEmpty() && endings.size() < batch) {
      endings.add(from.remove());
    }
    return endings;
  }

  private void answered(List<Ending> endings, List<@Nullable SettleResult> results, @Nullable Throwable failure,
      long nowNanos) {
    boolean isFull = RoomGate.isFull(failure);
    boolean isHeld = false;
    List<Ending> again = new ArrayList<>();
    for (int i = 0; i < endings.size(); i++) {
      Ending ending = endings.get(i);
      SettleResult result = results.get(i);
      if (result != null) {
        stored(ending, nowNanos);
        ItemGuard.run(() -> recorded.recorded(ending, result, nowNanos));
      } else if (isFull && inserts(ending.settlement())) {
        waiting.add(unplanned(ending));
      } else if (isFull) {
        hold(ending, nowNanos);
        isHeld = true;
      } else if (!ending.attempt().released || ending.attempt().held) {
        again.add(ending);
      }
    }
    if (isHeld) {
      heldPause.failed(nowNanos);
      gate.refused(nowNanos);
    }
    if (again.size() > 1 && again.size() == endings.size()
        && !(GroupCommit.unwrapped(failure) instanceof StoreAwayException)) {
      halves.add(again.subList(0, again.size() / 2));
      halves.add(again.subList(again.size() / 2, again.size()));
    } else {
      waiting.addAll(again);
    }
  }

  private void stored(Ending ending, long nowNanos) {
    if (ending.attempt().held) {
      ending.attempt().held = false;
      gate.letGo();
      heldPause.succeeded();
    }
    gate.recorded(nowNanos);
    isUnplannedLogged &= !inserts(ending.settlement());
  }

  private void hold(Ending ending, long nowNanos) {
    RunningAttempt attempt = ending.attempt();
    held.add(ending);
    if (!attempt.held) {
      attempt.held = true;
      gate.hold();
      ItemGuard.run(() -> recorded.held(attempt, nowNanos));
    }
  }

  private static boolean inserts(AttemptEnd settlement) {
    return settlement.outcome() instanceof Outcome.Rearm rearm && !rearm.children().isEmpty();
  }

  /** Returns the end that takes the place of an end whose new tasks find no room. */
  private Ending unplanned(Ending ending) {
    AttemptEnd old = ending.settlement();
    if (!isUnplannedLogged) {
      isUnplannedLogged = true;
      LOG.log(System.Logger.Level.WARNING, "the store has no room for the tasks that an attempt inserts; such attempts"
          + " are made again every {0} ms until it has: task={1}, queue={2}", UNPLANNED_MILLIS, old.id(),
          ending.attempt().task.queue());
    }
    return new Ending(ending.attempt(), new AttemptEnd(old.id(), old.generation(), old.token(),
        new Outcome.Rearm(Due.after(UNPLANNED_MILLIS)), old.begunAt(), old.detail()));
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
      case Outcome.NotBegun notBegun -> "not-begun";
    };
  }
}
