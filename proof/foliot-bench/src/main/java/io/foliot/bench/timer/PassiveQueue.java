package io.foliot.bench.timer;

import io.foliot.bench.classic.BoundedWheel;
import io.foliot.bench.classic.HeapQueue;
import io.foliot.bench.classic.RadixHierarchy;
import io.foliot.bench.classic.RadixHierarchy.Turning;
import io.foliot.bench.classic.RoundsWheel;
import io.foliot.bench.classic.SortedListQueue;
import io.foliot.bench.classic.SortedRoundsWheel;
import io.foliot.bench.classic.TreeQueue;
import io.foliot.wheel.TimerQueue;
import io.foliot.wheel.TimerWheel;
import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;

/** A passive timer queue, with the operations that are measured. Time begins at tick 0. */
interface PassiveQueue {
  /** Exclusive bound of all delays, in ticks: the range of the bounded wheel. The range of the hierarchy is longer. */
  int DELAY_TICKS_END = 1 << 16;

  long schedule(long deadlineTick);

  boolean cancel(long handle);

  /** Gives a timer another deadline, and returns its new handle. */
  long reschedule(long handle, long deadlineTick);

  long nextWake();

  /** Expires all timers that are due, and returns their number. */
  int expire(long nowTick);

  int size();

  /** Creates an empty queue of the named class. */
  static PassiveQueue create(String form) {
    return switch (form) {
      case "TimerWheel" -> new OfTimerQueue(new TimerWheel(0));
      case "Agrona" -> new OfAgrona();
      case "BoundedWheel" -> new OfTimerQueue(new BoundedWheel(0, DELAY_TICKS_END));
      case "RoundsWheel" -> new OfTimerQueue(new RoundsWheel(0, OfAgrona.SLOTS));
      case "SortedRoundsWheel" -> new OfTimerQueue(new SortedRoundsWheel(0, OfAgrona.SLOTS));
      case "RadixHierarchy" -> new OfTimerQueue(new RadixHierarchy(0, Turning.PUSHED_FROM_BELOW, 64, 64, 64));
      case "HeapQueue" -> new OfTimerQueue(new HeapQueue(0));
      case "TreeQueue" -> new OfTimerQueue(new TreeQueue(0));
      case "SortedListQueue" -> new OfTimerQueue(new SortedListQueue(0));
      default -> throw new IllegalArgumentException("a form must be a known one: form=" + form);
    };
  }

  /** Any {@link TimerQueue}. */
  final class OfTimerQueue implements PassiveQueue {
    private final TimerQueue queue;
    private int expired;
    private final TimerQueue.Sink sink = (handle, deadlineTick, payload) -> expired++;

    OfTimerQueue(TimerQueue queue) {
      this.queue = queue;
    }

    @Override
    public long schedule(long deadlineTick) {
      return queue.schedule(deadlineTick, deadlineTick);
    }

    @Override
    public boolean cancel(long handle) {
      return queue.cancel(handle);
    }

    @Override
    public long reschedule(long handle, long deadlineTick) {
      queue.reschedule(handle, deadlineTick);
      return handle;
    }

    @Override
    public long nextWake() {
      return queue.nextWake();
    }

    @Override
    public int expire(long nowTick) {
      expired = 0;
      queue.advance(nowTick, Integer.MAX_VALUE, sink);
      return expired;
    }

    @Override
    public int size() {
      return queue.size();
    }
  }

  /**
   * Agrona's wheel. The wheel has no reschedule, so this class cancels the timer and schedules a new one. The wheel has
   * no next wake either, because its owner polls it once a tick. So while a timer waits, this class returns the current
   * tick as the next wake.
   */
  final class OfAgrona implements PassiveQueue {
    static final int SLOTS = 1024;

    private final DeadlineTimerWheel wheel = new DeadlineTimerWheel(TimeUnit.MILLISECONDS, 0, 1, SLOTS);
    private final DeadlineTimerWheel.TimerHandler handler = (unit, now, timerId) -> true;

    @Override
    public long schedule(long deadlineTick) {
      return wheel.scheduleTimer(deadlineTick);
    }

    @Override
    public boolean cancel(long handle) {
      return wheel.cancelTimer(handle);
    }

    @Override
    public long reschedule(long handle, long deadlineTick) {
      wheel.cancelTimer(handle);
      return wheel.scheduleTimer(deadlineTick);
    }

    @Override
    public long nextWake() {
      return wheel.timerCount() == 0 ? TimerQueue.NEVER : wheel.currentTickTime();
    }

    @Override
    public int expire(long nowTick) {
      int expired = 0;
      // A poll advances the wheel by one tick at most.
      while (wheel.currentTickTime() <= nowTick) {
        expired += wheel.poll(nowTick, handler, Integer.MAX_VALUE);
      }
      return expired;
    }

    @Override
    public int size() {
      return (int) wheel.timerCount();
    }
  }
}
