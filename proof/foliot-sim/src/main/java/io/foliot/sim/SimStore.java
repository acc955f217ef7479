package io.foliot.sim;

import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The store that all nodes share, with a clock that is the reference. The store can be unreachable, fail over, and, if
 * its kind permits, lose its latest writes. Each node calls the store through a {@link StoreLink}.
 *
 * <p>To lose its latest writes, the store replays all earlier writes, at their original times, into a new
 * {@link MemoryStore}. The records of a {@link MemoryStore} depend only on its calls, their times and their tokens.
 */
final class SimStore {
  /** The kinds of stores that are simulated. */
  enum Kind {
    /** A log that is synced before any call is answered: a crash loses nothing. */
    SYNCED_LOG,
    /** A server with transactions, which may commit long after their writes. A failover loses nothing. */
    SQL,
    /** A store of durability class B: a failover may lose the latest writes. */
    REDIS
  }

  /**
   * The behaviour of the store.
   *
   * @param maxLatencyMicros the largest latency of a call, in each direction
   * @param failPerMille the number of calls out of a thousand that fail in one of several ways
   * @param patienceMillis how long a caller waits for an answer before it treats the call as failed
   * @param windowMillis the period of writes that a failover may lose; 0 for none
   * @param batchSize the batch size that the store reports
   */
  record Behaviour(Kind kind, int slots, long maxLatencyMicros, int failPerMille, long patienceMillis,
      long windowMillis, int batchSize) {}

  /**
   * A call that changes the store.
   *
   * @param atMicros the time at which the call took effect
   * @param decidedMicros the time by which the store decided the call
   * @param number the unique number of the step, from which its tokens are derived
   */
  private record Step(long atMicros, long decidedMicros, long number, String caller, Call call,
      Function<TaskStore, ? extends CompletionStage<?>> action) {}

  /**
   * Shows the virtual time, or another time while a write takes effect or is replayed, or after a fault or a planted
   * bug set the clock.
   */
  private final class ServerClock implements TimeSource {
    /** Time by which the current write was decided, or -1. */
    private long pastMicros = -1;
    private long errorMicros;

    @Override
    public long wallMicros() {
      return (pastMicros < 0 ? schedule.nowMicros() : pastMicros) + errorMicros;
    }

    @Override
    public long monotonicNanos() {
      return schedule.nowNanos();
    }
  }

  /** The state that a planted bug can read and change. */
  final class Scene {
    final SplittableRandom random;

    Scene(SplittableRandom random) {
      this.random = random;
    }

    long nowMicros() {
      return clock.wallMicros();
    }

    long nowMillis() {
      return clock.wallMillis();
    }

    /** Returns the name of the node that makes the call. */
    String caller() {
      return caller;
    }

    /** Returns the lead of the calling node's wall clock over the virtual time, in microseconds. */
    long callerErrorMicros() {
      return wallErrorMicros.apply(caller);
    }

    /** Runs an action while the store's clock is ahead by some microseconds. */
    <R> R skewed(long micros, Supplier<R> action) {
      clock.errorMicros += micros;
      try {
        return action.get();
      } finally {
        clock.errorMicros -= micros;
      }
    }
  }

  /** One of this many calls takes effect later than it is decided. */
  private static final int HELD_ONE_IN = 8;
  /** Replaces {@link #HELD_ONE_IN} for extensions, which are rare. */
  private static final int EXTENSION_HELD_ONE_IN = 2;

  private final Schedule schedule;
  private final Behaviour behaviour;
  private final Bug bug;
  private final Coverage coverage;
  private final Function<String, Long> wallErrorMicros;
  private final long tokenSeed;
  /** Draws how long calls are held between their decisions and their effects. */
  private final SplittableRandom holds;
  private final long maxHoldMicros;
  private final ServerClock clock = new ServerClock();
  private final List<Step> log = new ArrayList<>();

  private MemoryStore truth;
  /** The store that nodes call: the truth, wrapped by the planted bug and the witness. */
  private TaskStore exposed;
  private SplittableRandom tokens;
  private long steps;
  private String caller = "";
  private boolean away;
  private int connections;
  private int pendingClientCalls;
  private Consumer<String> deletions = queue -> {};
  private BiFunction<TaskStore, Scene, TaskStore> witness = (store, scene) -> store;

  /** @param wallErrorMicros returns, for the name of a node, the lead of its wall clock over the virtual time */
  SimStore(Behaviour behaviour, Bug bug, Schedule schedule, SplittableRandom random, Coverage coverage,
      Function<String, Long> wallErrorMicros) {
    this.behaviour = behaviour;
    this.bug = bug;
    this.schedule = schedule;
    this.coverage = coverage;
    this.wallErrorMicros = wallErrorMicros;
    tokenSeed = random.nextLong();
    tokens = new SplittableRandom(tokenSeed);
    holds = new SplittableRandom(~tokenSeed);
    long[] mostMillis = {0, 20, 500, behaviour.patienceMillis()};
    maxHoldMicros = behaviour.failPerMille() == 0 ? 0 : mostMillis[holds.nextInt(mostMillis.length)] * 1_000;
    truth = newTruth();
    exposed = newExposed();
  }

  private TaskStore newExposed() {
    Scene scene = new Scene(new SplittableRandom(tokenSeed));
    return witness.apply(bug.wrap(truth, scene), scene);
  }

  /**
   * Sets the witness: a wrapper that gets all later calls, with the results that nodes get. A planted bug may have
   * falsified these results.
   */
  void watchCalls(BiFunction<TaskStore, Scene, TaskStore> newWitness) {
    witness = newWitness;
    exposed = newExposed();
  }

  private MemoryStore newTruth() {
    return new MemoryStore(behaviour.slots(), clock, () -> new Token(tokens.nextLong(), tokens.nextLong()));
  }

  Behaviour behaviour() {
    return behaviour;
  }

  /**
   * Returns how long the effect of a call comes after its decision, in microseconds; 0 for most calls. A statement may
   * wait for a lock, a commit for a disk, and the write of an optimistic call for the network.
   */
  long holdMicros(Call call) {
    int oneIn = call == Call.EXTEND ? EXTENSION_HELD_ONE_IN : HELD_ONE_IN;
    return call.isDecided() && maxHoldMicros > 0 && holds.nextInt(oneIn) == 0 ? holds.nextLong(maxHoldMicros) : 0;
  }

  /** Decides a call that takes effect later. */
  Decision decide(Function<TaskStore, ? extends CompletionStage<?>> action) {
    return Decision.of(action, truth, schedule.nowMicros());
  }

  /** Makes a call on behalf of a node or client, and logs the call if a failover may lose its effect. */
  <R> CompletionStage<R> take(Call call, String by, Function<TaskStore, CompletionStage<R>> action) {
    return take(call, by, action, schedule.nowMicros());
  }

  /** Makes a call that was decided earlier. If its records have changed since, it is decided again. */
  <R> CompletionStage<R> take(Call call, String by, Function<TaskStore, CompletionStage<R>> action,
      Decision decision) {
    boolean holds = decision.holds(truth);
    coverage.count(holds ? Coverage.Case.EFFECT_AFTER_DECISION : Coverage.Case.DECIDED_AGAIN);
    if (call == Call.EXTEND) {
      for (long left = decision.leasesEndedSince(schedule.nowMillis()); left > 0; left--) {
        coverage.count(holds
            ? Coverage.Case.LEASE_EXTENDED_AFTER_ITS_END
            : Coverage.Case.EXTENSION_DECIDED_AGAIN_AFTER_THE_END);
      }
    }
    return take(call, by, action, holds ? decision.atMicros() : schedule.nowMicros());
  }

  private <R> CompletionStage<R> take(Call call, String by, Function<TaskStore, CompletionStage<R>> action,
      long decidedMicros) {
    steps++;
    tokens = new SplittableRandom(tokenSeed + steps);
    if (call.writes() && (behaviour.windowMillis() > 0 || bug == Bug.ACK_BEFORE_SYNC)) {
      log.add(new Step(schedule.nowMicros(), decidedMicros, steps, by, call, action));
    }
    caller = by;
    clock.pastMicros = decidedMicros;
    try {
      return action.apply(exposed);
    } finally {
      clock.pastMicros = -1;
    }
  }

  /** Sets the listener of deletions of queues, which is called at each deletion. */
  void watchDeletions(Consumer<String> watch) {
    deletions = watch;
  }

  void queueDeleted(String name) {
    deletions.accept(name);
  }

  boolean hasQueue(String name) {
    return now(truth.document(DocumentKind.QUEUE, name)).isPresent();
  }

  boolean isAway() {
    return away;
  }

  void setAway(boolean nowAway) {
    away = nowAway;
    if (nowAway) {
      connections++;
    }
  }

  /** Returns a number that increases whenever all connections break. */
  int connections() {
    return connections;
  }

  void clientCallBegan() {
    pendingClientCalls++;
  }

  void clientCallEnded() {
    pendingClientCalls--;
  }

  /** Returns whether a request of a client may still take effect. */
  boolean isAwaited() {
    return pendingClientCalls > 0;
  }

  /** Sets the store's clock to the virtual time plus a lead. */
  void setClock(long aheadMillis) {
    clock.errorMicros = aheadMillis * 1_000;
  }

  /** Fails over to a server that lacks the writes of the last {@code lostMillis}. */
  void forget(long lostMillis) {
    connections++;
    long keptMicros = schedule.nowMicros() - lostMillis * 1_000;
    int kept = log.size();
    while (kept > 0 && log.get(kept - 1).atMicros() > keptMicros) {
      kept--;
      count(log.get(kept).call());
    }
    log.subList(kept, log.size()).clear();
    truth = newTruth();
    exposed = newExposed();
    for (Step step : log) {
      tokens = new SplittableRandom(tokenSeed + step.number());
      clock.pastMicros = step.decidedMicros();
      caller = step.caller();
      CompletionStage<?> again = step.action().apply(exposed);
      assert again.toCompletableFuture().isDone();
    }
    clock.pastMicros = -1;
  }

  private void count(Call call) {
    coverage.count(Coverage.Case.WRITES_FORGOTTEN);
    if (call.isOfClient()) {
      coverage.count(Coverage.Case.CLIENT_WRITE_FORGOTTEN);
    } else if (call == Call.CLAIM) {
      coverage.count(Coverage.Case.CLAIM_FORGOTTEN);
    }
  }

  private static <R> R now(CompletionStage<R> stage) {
    CompletableFuture<R> future = stage.toCompletableFuture();
    if (!future.isDone()) {
      throw new IllegalStateException("a call of the memory store did not complete at once");
    }
    return future.join();
  }

  /** Reads a task without a delay. */
  Optional<TaskRecord> peek(TaskRef ref) {
    return now(truth.find(ref));
  }

  /** Returns the store without the planted bug, for reads without a delay. */
  TaskStore truth() {
    return truth;
  }

  List<TaskRecord> live() {
    return now(truth.live(Integer.MAX_VALUE - 1, null)).tasks();
  }

  /** Returns the assignment of nodes that coordinate through the store, or null if there is none. */
  @Nullable
  Assignment assignment() {
    return now(truth.document(DocumentKind.CLUSTER, "assignment")).map(Document::content).map(Assignment::decode)
        .orElse(null);
  }
}
