package io.foliot.bench.timer;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/** The firings of a number of timers, and the check that they are as demanded. */
final class FiringLog {
  /**
   * Timers that count in milliseconds cut the present down to one, and so fire up to a millisecond early; one that goes
   * by the wall clock is earlier still while that is being set right. A firing earlier than this has neither reason.
   */
  static final long EARLY_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(5);

  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long NOT_FIRED = Long.MIN_VALUE;

  // Any thread. An entry is written before the firing is counted, and read after the count is.
  private final long[] latenessNanos;
  private final LongAdder firings = new LongAdder();
  private final LongAdder repeats = new LongAdder();

  FiringLog(int timers) {
    latenessNanos = new long[timers];
    Arrays.fill(latenessNanos, NOT_FIRED);
  }

  /** The callback of a timer that is due at a time of {@link System#nanoTime}. */
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
   * @throws IllegalStateException if they have not come by a time of {@link System#nanoTime}
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
   * @throws IllegalStateException if one of the others did not fire exactly once or fired early, or a cancelled one
   *     fired
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
            "no timer may fire early: timer=" + index + ", latenessNanos=" + latenessNanos[index]);
      }
    }
    int expected = latenessNanos.length - cancelled;
    if (repeats.sum() != 0 || firings.sum() != expected) {
      throw new IllegalStateException(
          "every timer must fire once: timers=" + expected + ", firings=" + firings.sum());
    }
  }

  /** Returns how late the timers were that fired. */
  LongStream latenessNanos() {
    return Arrays.stream(latenessNanos).filter(nanos -> nanos != NOT_FIRED);
  }
}
