package io.foliot.sim;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Virtual time and its events. One thread; events of the same instant happen in the order in which they were added. */
final class Schedule {
  private static final long START_MICROS = 1_767_225_600_000_000L;

  private record Happening(long atNanos, long number, Runnable action) {}

  private final PriorityQueue<Happening> happenings = new PriorityQueue<>(
      Comparator.comparingLong(Happening::atNanos).thenComparingLong(Happening::number));
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

  void at(long atNanos, Runnable action) {
    happenings.add(new Happening(Math.max(atNanos, nowNanos), number, action));
    number++;
  }

  void afterMillis(long delayMillis, Runnable action) {
    at(nowNanos + TimeUnit.MILLISECONDS.toNanos(delayMillis), action);
  }

  void afterMicros(long delayMicros, Runnable action) {
    at(nowNanos + TimeUnit.MICROSECONDS.toNanos(delayMicros), action);
  }

  /**
   * Lets everything happen up to an instant, or until a condition does not hold any more; the time is then that
   * instant.
   */
  void runWhile(long untilNanos, BooleanSupplier condition) {
    while (condition.getAsBoolean()) {
      Happening next = happenings.peek();
      if (next == null || next.atNanos() > untilNanos) {
        break;
      }
      happenings.remove();
      nowNanos = next.atNanos();
      next.action().run();
    }
    nowNanos = untilNanos;
  }
}
