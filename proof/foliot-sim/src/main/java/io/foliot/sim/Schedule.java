package io.foliot.sim;

import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The virtual time, and the actions that are planned for its instants. One thread runs the actions. Actions of the same
 * instant run in the order in which they were added.
 */
final class Schedule {
  /** The wall time at the virtual time 0: 2026-01-01T00:00:00Z, in microseconds since 1970. */
  private static final long START_MICROS = 1_767_225_600_000_000L;

  private record TimedAction(long atNanos, long number, Runnable action) implements Comparable<TimedAction> {
    /** Compares without functions, because a sixth of a simulation's time was spent in a comparator made of them. */
    @Override
    public int compareTo(TimedAction other) {
      int byTime = Long.compare(atNanos, other.atNanos);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  private final PriorityQueue<TimedAction> actions = new PriorityQueue<>();
  private long nowNanos;
  private long number;

  long nowNanos() {
    return nowNanos;
  }

  long nowMicros() {
    return START_MICROS + nowNanos / 1_000;
  }

  long nowMillis() {
    return nowMicros() / 1_000;
  }

  /** Plans an action for an instant, or for the present if the instant has passed. */
  void at(long atNanos, Runnable action) {
    actions.add(new TimedAction(Math.max(atNanos, nowNanos), number, action));
    number++;
  }

  void afterMillis(long delayMillis, Runnable action) {
    at(nowNanos + TimeUnit.MILLISECONDS.toNanos(delayMillis), action);
  }

  void afterMicros(long delayMicros, Runnable action) {
    at(nowNanos + TimeUnit.MICROSECONDS.toNanos(delayMicros), action);
  }

  /**
   * Runs all actions up to an instant, inclusive, or until a condition no longer holds. In both cases, finally sets the
   * virtual time to this instant.
   */
  void runWhile(long untilNanos, BooleanSupplier condition) {
    while (condition.getAsBoolean()) {
      TimedAction next = actions.peek();
      if (next == null || next.atNanos() > untilNanos) {
        break;
      }
      actions.remove();
      nowNanos = next.atNanos();
      next.action().run();
    }
    nowNanos = untilNanos;
  }
}
