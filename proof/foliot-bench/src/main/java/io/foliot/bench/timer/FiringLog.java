package io.foliot.bench.timer;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/** Records the firings of a number of timers, and checks them. */
final class FiringLog {
  /**
   * Longest time by which a timer may fire early. Timers that count in milliseconds round the current time down, and so
   * may fire up to a millisecond early. Timers that use the wall clock may fire earlier while the clock is adjusted.
   */
  static final long EARLY_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(5);

  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long NOT_FIRED = Long.MIN_VALUE;

  // Used by any thread. A firing writes its entry and then increments the count; a reader reads the count first.
  private final long[] latenessNanos;
  private final LongAdder firings = new LongAdder();
  private final LongAdder repeats = new LongAdder();

  FiringLog(int timers) {
    latenessNanos = new long[timers];
    Arrays.fill(latenessNanos, NOT_FIRED);
  }

  /** Returns the callback of a timer that is due at this {@link System#nanoTime}. */
  Runnable timer(int index, long dueNanos) {
    return () -> fire(index, System.nanoTime() - dueNanos);
  }

  private void fire(int index, long lateNanos) {
    if (latenessNanos[index] != NOT_FIRED) {
      repeats.increment();
    }
    latenessNanos[index] = lateNanos;
    firings.increment();
  }

  long firings() {
    return firings.sum();
  }

  /**
   * Waits until a number of timers have fired.
   *
   * @param untilNanos the {@link System#nanoTime} at which the wait ends
   * @throws IllegalStateException if fewer timers have fired by then
   */
  void awaitFirings(long count, long untilNanos) {
    while (firings.sum() - repeats.sum() < count) {
      if (System.nanoTime() - untilNanos > 0) {
        throw new IllegalStateException(
            "every timer that was not cancelled must fire: expected=" + count + ", fired=" + firings.sum());
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /**
   * Checks each timer.
   *
   * @param cancelled the number of timers, from the first, that were cancelled
   * @throws IllegalStateException if a cancelled timer fired, if a timer that was not cancelled did not fire exactly
   *     once, or if a timer fired more than {@link #EARLY_NANOS_MAX} early
   */
  void ensureExact(int cancelled) {
    for (int index = 0; index < latenessNanos.length; index++) {
      boolean fired = latenessNanos[index] != NOT_FIRED;
      if (fired && index < cancelled) {
        throw new IllegalStateException("a cancelled timer must not fire: timer=" + index);
      }
      if (!fired && index >= cancelled) {
        throw new IllegalStateException("every timer that was not cancelled must fire: timer=" + index);
      }
      if (fired && latenessNanos[index] < -EARLY_NANOS_MAX) {
        throw new IllegalStateException(
            "a timer may fire at most 5 ms early: timer=" + index + ", latenessNanos=" + latenessNanos[index]);
      }
    }
    int expected = latenessNanos.length - cancelled;
    if (repeats.sum() != 0 || firings.sum() != expected) {
      throw new IllegalStateException(
          "every timer must fire once: timers=" + expected + ", firings=" + firings.sum());
    }
  }

  /** Returns the lateness of each timer that has fired, in the order of the timers' indexes. */
  LongStream latenessNanos() {
    return Arrays.stream(latenessNanos).filter(nanos -> nanos != NOT_FIRED);
  }
}
