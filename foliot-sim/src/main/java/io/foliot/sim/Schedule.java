package io.foliot.sim;

import io.foliot.core.Clock;
import io.foliot.core.EventLoop;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Virtual time, and what is to happen in it. One thread; what is due at the same instant happens in the order it came. */
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

  /** Lets everything happen up to an instant. */
  void runUntil(long untilNanos) {
    while (true) {
      Happening next = happenings.peek();
      if (next == null || next.atNanos() > untilNanos) {
        nowNanos = untilNanos;
        return;
      }
      happenings.remove();
      nowNanos = next.atNanos();
      next.action().run();
    }
  }

  /** A node's clocks: the virtual time, plus what the node is wrong by. */
  static final class NodeClock implements Clock {
    private final Schedule schedule;
    private long errorMicros;

    NodeClock(Schedule schedule) {
      this.schedule = schedule;
    }

    void stepMillis(long millis) {
      errorMicros += millis * 1_000;
    }

    @Override
    public long wallMicros() {
      return schedule.nowMicros() + errorMicros;
    }

    @Override
    public long monotonicNanos() {
      return schedule.nowNanos();
    }
  }

  /** An event loop whose turns are happenings. */
  static final class NodeLoop implements EventLoop {
    private final Schedule schedule;
    private @Nullable Duty duty;
    private long nextNanos = Long.MAX_VALUE;
    private long stamp;
    private boolean closed;

    NodeLoop(Schedule schedule) {
      this.schedule = schedule;
    }

    @Override
    public void start(Duty newDuty) {
      duty = newDuty;
      turnAt(schedule.nowNanos());
    }

    @Override
    public void wake() {
      if (duty != null && nextNanos > schedule.nowNanos()) {
        turnAt(schedule.nowNanos());
      }
    }

    private void turnAt(long atNanos) {
      nextNanos = atNanos;
      stamp++;
      long mine = stamp;
      schedule.at(atNanos, () -> {
        if (mine == stamp) {
          turn();
        }
      });
    }

    private void turn() {
      if (closed || duty == null) {
        return;
      }
      nextNanos = Long.MAX_VALUE;
      long wakeNanos = duty.turn();
      // A turn takes a moment, so that a loop which asks to be called at once does not hold up time.
      long atNanos = Math.max(wakeNanos, schedule.nowNanos() + 1_000);
      if (atNanos < nextNanos || nextNanos == Long.MAX_VALUE) {
        turnAt(nextNanos == Long.MAX_VALUE ? atNanos : Math.min(atNanos, nextNanos));
      }
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
