package io.foliot.bench.classic;

import static java.util.Objects.requireNonNull;

import io.foliot.wheel.TimerQueue;
import org.jspecify.annotations.Nullable;

/**
 * The common part of the classic timer queues: handles, time, checks of arguments, and timers that were already due
 * when their deadline was set. A subclass, here called a form, stores the timers whose deadline is ahead, and finds the
 * next timer.
 */
abstract class ClassicQueue implements TimerQueue {
  /*
   * A timer is either placed or late. The form stores the placed timers. A late timer was already due when its deadline
   * was set. An advance first hands out the timers that the form has reached, and then the late timers. Only then does
   * the advance move time forward: timers that the form reaches later have later deadlines than the late timers. A sink
   * may add late timers during an advance. Such a timer has a higher order than every timer that was there before the
   * advance, and waits for the next advance.
   */
  private final TimerTable timers = new TimerTable();
  private final TimerList late = new TimerList();
  private long hand;
  private long nextOrder;
  private int placed;
  private boolean advancing;

  ClassicQueue(long startTick) {
    hand = startTick;
  }

  /** Stores a timer whose deadline is after the current tick. */
  abstract void place(Timer timer);

  /** Removes a placed timer that is being cancelled, rescheduled or handed out. */
  abstract void remove(Timer timer);

  /** Returns the first placed timer whose deadline the current tick has reached, or null if there is none. */
  abstract @Nullable Timer reached();

  /**
   * Moves time forward by one step with {@link #moveTo}: at most to {@code nowTick}, and not past a deadline. Called
   * only while no timer is reached. If the budget is spent, time may stay at its tick, and the next step continues the
   * work.
   *
   * @param budget how many timers the step may move inside the form; at least 1
   * @return how many timers the step has moved inside the form
   */
  abstract int step(long nowTick, int budget);

  /**
   * Returns the {@link #nextWake} of the placed timers alone. Called only if there is a placed timer, and none is
   * reached.
   */
  abstract long nextPlaced();

  /** Throws an {@link IllegalArgumentException} if the form cannot store a timer with this deadline. */
  void ensureTakes(long deadlineTick) {}

  @Override
  public final long schedule(long deadlineTick, long payload) {
    ensureTakes(deadlineTick);
    Timer timer = timers.take(payload);
    attach(timer, deadlineTick);
    return timer.handle();
  }

  @Override
  public final boolean cancel(long handle) {
    Timer timer = timers.find(handle);
    if (timer == null) {
      return false;
    }
    detach(timer);
    timers.release(timer);
    return true;
  }

  @Override
  public final boolean reschedule(long handle, long deadlineTick) {
    Timer timer = timers.find(handle);
    if (timer == null) {
      return false;
    }
    if (timer.deadlineTick != deadlineTick) {
      ensureTakes(deadlineTick);
      detach(timer);
      attach(timer, deadlineTick);
    }
    return true;
  }

  @Override
  public final long nextWake() {
    if (!late.isEmpty() || reached() != null) {
      return hand;
    }
    return placed == 0 ? NEVER : nextPlaced();
  }

  @Override
  public final int advance(long nowTick, int limit, Sink sink) {
    requireNonNull(sink, "sink");
    if (limit <= 0) {
      throw new IllegalArgumentException("limit must be positive: limit=" + limit);
    }
    if (advancing) {
      throw new IllegalStateException("advance must not be called from inside its sink: currentTick=" + hand);
    }
    if (nowTick < hand) {
      return 0;
    }
    advancing = true;
    try {
      return expire(nowTick, limit, sink);
    } finally {
      advancing = false;
    }
  }

  private int expire(long nowTick, int limit, Sink sink) {
    long orderAtBegin = nextOrder;
    int touched = 0;
    while (touched < limit) {
      Timer timer = nextDue(orderAtBegin);
      if (timer != null) {
        touched++;
        handOut(timer, sink);
      } else if (hand < nowTick) {
        touched += step(nowTick, limit - touched);
      } else {
        break;
      }
    }
    return touched;
  }

  private @Nullable Timer nextDue(long orderAtBegin) {
    Timer timer = reached();
    if (timer == null) {
      timer = late.first();
      if (timer != null && timer.order >= orderAtBegin) {
        return null;
      }
    }
    return timer;
  }

  private void handOut(Timer timer, Sink sink) {
    long handle = timer.handle();
    long deadlineTick = timer.deadlineTick;
    long payload = timer.payload;
    assert deadlineTick <= hand : "a timer was reached early: deadlineTick=" + deadlineTick + ", currentTick=" + hand;
    detach(timer);
    timers.release(timer);
    sink.accept(handle, deadlineTick, payload);
  }

  private void attach(Timer timer, long deadlineTick) {
    timer.deadlineTick = deadlineTick;
    timer.order = nextOrder++;
    if (deadlineTick <= hand) {
      late.append(timer);
    } else {
      placed++;
      place(timer);
    }
  }

  private void detach(Timer timer) {
    if (timer.list == late) {
      late.remove(timer);
    } else {
      placed--;
      remove(timer);
    }
  }

  @Override
  public final int size() {
    return timers.size();
  }

  @Override
  public final long currentTick() {
    return hand;
  }

  @Override
  public final void forEach(Sink visitor) {
    requireNonNull(visitor, "visitor");
    for (int cell = 0; cell < timers.cells(); cell++) {
      Timer timer = timers.cell(cell);
      if (timer.live) {
        visitor.accept(timer.handle(), timer.deadlineTick, timer.payload);
      }
    }
  }

  final void moveTo(long tick) {
    assert tick > hand : "time must advance: tick=" + tick + ", currentTick=" + hand;
    hand = tick;
  }

  final int placed() {
    return placed;
  }

  /** Returns the timer of a handle, or null if the handle is stale. */
  final @Nullable Timer find(long handle) {
    return timers.find(handle);
  }

  final boolean isLate(Timer timer) {
    return timer.list == late;
  }

  @Override
  public String toString() {
    return getClass().getSimpleName() + "[currentTick=" + hand + ", size=" + size() + "]";
  }
}
