package io.foliot.test;

import io.foliot.Driver;
import io.foliot.core.EventLoop;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.ManualLoops;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A driver that runs loops and handlers on the thread of a test, with a clock that the test advances.
 *
 * <p>Handlers never run inside a turn of a loop: they wait in a queue until the loops are idle. A handler may therefore
 * make blocking calls, which run the loops until the call is done.
 *
 * <p>The loops of an idle engine turn ten times a second, because the store of an engine may change behind its back and
 * its clock may step. Neither happens here: the driver owns the store and the clock. So {@link #advance} skips the
 * turns at which nothing can happen. While no task is due, it lets the loops turn for a second, and then jumps to a
 * second before the earliest entry of the store's index. Within these seconds the engine does all that it does from
 * time to time: it gathers hints, reads the fleet, and prefetches the entry that is due next. No jump is made while the
 * store has parked tasks, because the engine may read them back at any time.
 */
final class ManualDriver implements Driver {
  /** Longest time, by the clock of the test, that a call may take. Usually no time passes during a call. */
  private static final Duration CALL_BOUND = Duration.ofSeconds(10);
  /**
   * Longest time, by the clock of the test, that a stop may take. A stop waits for its handlers for less than this
   * time.
   */
  private static final Duration STOP_BOUND = Duration.ofMinutes(1);

  /**
   * Time for which the loops turn after the latest event and before the next one. All pauses of an idle engine are
   * shorter.
   */
  private static final long AROUND_EVENT_NANOS = 1_000_000_000;
  /** One slot: a poll reads each slot, and tasks of one engine need no more. */
  private static final int SLOTS = 1;

  private final SettableClock clock;
  private final ManualLoops loops;
  private final MemoryStore store;
  private final ConcurrentLinkedQueue<Runnable> handlers = new ConcurrentLinkedQueue<>();

  ManualDriver(Instant start) {
    clock = new SettableClock(start);
    loops = new ManualLoops(clock);
    SplittableRandom random = new SplittableRandom();
    store = new MemoryStore(SLOTS, clock, () -> new Token(random.nextLong(), random.nextLong()));
  }

  /** Returns the store that the engine of this driver must use, and no other engine may use. */
  TaskStore store() {
    return store;
  }

  @Override
  public TimeSource clock() {
    return clock;
  }

  Instant now() {
    return clock.instant();
  }

  @Override
  public EventLoop newLoop(String name) {
    return loops.newLoop();
  }

  @Override
  public Executor handlers() {
    return handlers::add;
  }

  @Override
  public <R> R await(CompletableFuture<R> call) {
    return await(call, CALL_BOUND);
  }

  private <R> R await(CompletableFuture<R> call, Duration bound) {
    loops.runUntil(call::isDone, bound);
    try {
      return call.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e.getCause() instanceof RuntimeException failure ? failure : e;
    }
  }

  /** Runs the handlers that wait in the queue, because a stop waits for their attempts. */
  @Override
  public void awaitStop(CompletableFuture<Void> stop) {
    runUntilIdle();
    await(stop, STOP_BOUND);
  }

  /** Advances the clock, and runs loops and handlers at each instant at which something can happen. */
  void advance(Duration time) {
    long endNanos = Math.addExact(clock.monotonicNanos(), time.toNanos());
    runUntilIdle();
    long eventNanos = clock.monotonicNanos();
    long wakeMillis = wakeMillis();
    for (Duration turn = loops.untilDue(); turn != null; turn = loops.untilDue()) {
      long nowNanos = clock.monotonicNanos();
      long nextNanos = turn.toNanos();
      if (nowNanos - eventNanos >= AROUND_EVENT_NANOS) {
        nextNanos = Math.max(nextNanos, nanosUntil(wakeMillis) - AROUND_EVENT_NANOS);
      }
      if (nextNanos > endNanos - nowNanos) {
        break;
      }
      clock.advance(Duration.ofNanos(nextNanos));
      boolean hasRun = runUntilIdle();
      long wakeBefore = wakeMillis;
      wakeMillis = wakeMillis();
      if (hasRun || wakeMillis != wakeBefore) {
        eventNanos = clock.monotonicNanos();
      }
    }
    clock.advance(Duration.ofNanos(Math.max(0, endNanos - clock.monotonicNanos())));
    runUntilIdle();
  }

  /**
   * Returns the time of the earliest entry in the store's index, in milliseconds since 1970. Returns the current time
   * if tasks are parked, and {@link Long#MAX_VALUE} if the store has no live task, or is closed.
   */
  private long wakeMillis() {
    if (loops.untilDue() == null) {
      return Long.MAX_VALUE;
    }
    if (!await(store.parkedQueues(SlotSet.all(SLOTS)).toCompletableFuture()).isEmpty()) {
      return clock.wallMillis();
    }
    List<DueSlice> slices = await(
        store.due(List.of(new DueScan(0, Long.MIN_VALUE, null, Long.MAX_VALUE, 1))).toCompletableFuture());
    List<DueEntry> entries = slices.getFirst().entries();
    return entries.isEmpty() ? Long.MAX_VALUE : entries.getFirst().wakeAt();
  }

  private long nanosUntil(long wallMillis) {
    return TimeUnit.NANOSECONDS.convert(Duration.between(clock.instant(), Instant.ofEpochMilli(wallMillis)));
  }

  /** Runs the loops and the handlers that wait. Returns whether a handler has run. */
  private boolean runUntilIdle() {
    boolean hasRun = false;
    loops.runUntilIdle();
    for (Runnable handler = handlers.poll(); handler != null; handler = handlers.poll()) {
      handler.run();
      hasRun = true;
      loops.runUntilIdle();
    }
    return hasRun;
  }

  @Override
  public void close() {
    handlers.clear();
  }
}
