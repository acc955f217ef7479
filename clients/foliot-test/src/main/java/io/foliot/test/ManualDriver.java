package io.foliot.test;

import io.foliot.Driver;
import io.foliot.core.EventLoop;
import io.foliot.core.TimeSource;
import io.foliot.testkit.ManualLoops;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

/**
 * A driver that runs loops and handlers on the thread of a test, with a clock that the test advances.
 *
 * <p>Handlers never run inside a turn of a loop: they wait in a queue until the loops are idle. A handler may therefore
 * make blocking calls, which run the loops until the call is done.
 */
final class ManualDriver implements Driver {
  /** Longest time, by the clock of the test, that a call may take. Usually no time passes during a call. */
  private static final Duration CALL_BOUND = Duration.ofSeconds(10);
  /**
   * Longest time, by the clock of the test, that a stop may take. A stop waits for its handlers for less than this
   * time.
   */
  private static final Duration STOP_BOUND = Duration.ofMinutes(1);

  private final SettableClock clock;
  private final ManualLoops loops;
  private final ConcurrentLinkedQueue<Runnable> handlers = new ConcurrentLinkedQueue<>();

  ManualDriver(Instant start) {
    clock = new SettableClock(start);
    loops = new ManualLoops(clock);
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

  /** Advances the clock, and runs loops and handlers at each instant at which a loop is due. */
  void advance(Duration time) {
    long endNanos = Math.addExact(clock.monotonicNanos(), time.toNanos());
    runUntilIdle();
    for (Duration next = loops.untilDue(); next != null; next = loops.untilDue()) {
      if (next.toNanos() > endNanos - clock.monotonicNanos()) {
        break;
      }
      clock.advance(next);
      runUntilIdle();
    }
    clock.advance(Duration.ofNanos(Math.max(0, endNanos - clock.monotonicNanos())));
    runUntilIdle();
  }

  private void runUntilIdle() {
    loops.runUntilIdle();
    for (Runnable handler = handlers.poll(); handler != null; handler = handlers.poll()) {
      handler.run();
      loops.runUntilIdle();
    }
  }

  @Override
  public void close() {
    handlers.clear();
  }
}
