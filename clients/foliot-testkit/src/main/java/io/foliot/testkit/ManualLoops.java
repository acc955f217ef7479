package io.foliot.testkit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Event loops that share a clock, turned by one thread: the same calls in the same order lead to the same turns. In
 * each round, each loop that is due takes one turn, in the order in which the loops were created.
 */
public final class ManualLoops {
  /** Maximum number of turns at one instant before the test fails. The work of a test takes far fewer turns. */
  public static final int MAX_TURNS_AT_ONE_INSTANT = 100_000;

  private final SettableClock clock;
  private final List<ManualEventLoop> loops = new CopyOnWriteArrayList<>();

  /** Creates an empty set of loops. */
  public ManualLoops(SettableClock clock) {
    this.clock = clock;
  }

  ManualLoops(SettableClock clock, ManualEventLoop only) {
    this(clock);
    loops.add(only);
  }

  /** Adds a new loop, not yet started, and returns it. */
  public ManualEventLoop newLoop() {
    ManualEventLoop loop = new ManualEventLoop(clock);
    loops.add(loop);
    return loop;
  }

  /** Runs one turn of each loop that is due. Returns the number of turns. */
  public int runDue() {
    int turns = 0;
    for (ManualEventLoop loop : loops) {
      if (loop.isDue()) {
        loop.turn();
        turns++;
      }
    }
    return turns;
  }

  /**
   * Runs turns until no loop is due, without letting time pass. Returns the number of turns.
   *
   * @throws IllegalStateException if the loops take more than {@link #MAX_TURNS_AT_ONE_INSTANT} turns
   */
  public int runUntilIdle() {
    int turns = 0;
    for (int round = runDue(); round > 0; round = runDue()) {
      turns += round;
      if (turns > MAX_TURNS_AT_ONE_INSTANT) {
        throw new IllegalStateException(
            "the loops do not become idle; in each turn, a duty wakes a loop or requests a turn at once: turns="
                + turns + ", clock=" + clock);
      }
    }
    return turns;
  }

  /** Lets time pass, and turns the loops at each instant at which a loop is due. At the end no loop is due. */
  public void advance(Duration time) {
    long endNanos = Math.addExact(clock.monotonicNanos(), time.toNanos());
    runUntilIdle();
    for (Duration next = untilDue(); next != null; next = untilDue()) {
      if (next.toNanos() > endNanos - clock.monotonicNanos()) {
        break;
      }
      clock.advance(next);
      runUntilIdle();
    }
    clock.advance(Duration.ofNanos(Math.max(0, endNanos - clock.monotonicNanos())));
    runUntilIdle();
  }

  /**
   * Lets time pass from turn to turn until a condition holds.
   *
   * @param atMost longest time that may pass
   * @throws IllegalStateException if the condition does not hold after the last turn within this time
   */
  public void runUntil(BooleanSupplier condition, Duration atMost) {
    long endNanos = Math.addExact(clock.monotonicNanos(), atMost.toNanos());
    runUntilIdle();
    while (!condition.getAsBoolean()) {
      Duration next = untilDue();
      if (next == null || next.toNanos() > endNanos - clock.monotonicNanos()) {
        throw new IllegalStateException("the condition did not come true: within=" + atMost + ", nextTurnIn="
            + (next == null ? "never" : next) + ", clock=" + clock);
      }
      clock.advance(next);
      runUntilIdle();
    }
  }

  /** Returns the time until the first of the loops is due, or null if each loop is closed or not yet started. */
  public @Nullable Duration untilDue() {
    Duration soonest = null;
    for (ManualEventLoop loop : loops) {
      Duration next = loop.untilDue();
      if (next != null && (soonest == null || next.compareTo(soonest) < 0)) {
        soonest = next;
      }
    }
    return soonest;
  }
}
