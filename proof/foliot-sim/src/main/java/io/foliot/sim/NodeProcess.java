package io.foliot.sim;

import io.foliot.core.EventLoop;
import io.foliot.core.TimeSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One life of a node. Everything that happens inside it passes through {@link #run}: nothing does while it is paused,
 * and nothing ever after it has died.
 */
final class NodeProcess {
  private final Schedule schedule;
  private final TimeSource clock;
  private final Consumer<String> unmet;
  private final Deque<Runnable> held = new ArrayDeque<>();
  private boolean standing;
  private long wentOnMillis = Long.MIN_VALUE;
  private boolean dead;

  /** @param unmet receives reports of a loop that spins */
  NodeProcess(Schedule schedule, TimeSource clock, Consumer<String> unmet) {
    this.schedule = schedule;
    this.clock = clock;
    this.unmet = unmet;
  }

  TimeSource clock() {
    return clock;
  }

  boolean isAlive() {
    return !dead;
  }

  boolean isStanding() {
    return standing && !dead;
  }

  /** Runs an action inside the process: now, or when it is resumed, or never. */
  void run(Runnable action) {
    if (dead) {
      return;
    }
    if (standing) {
      held.add(action);
    } else {
      action.run();
    }
  }

  /** SIGSTOP. */
  void stand() {
    standing = true;
  }

  /** Returns whether it has not been paused since an instant. */
  boolean hasRunSince(long millis) {
    return !standing && wentOnMillis < millis;
  }

  /** SIGCONT: messages that arrived meanwhile are handled in the order of their arrival. */
  void goOn() {
    standing = false;
    wentOnMillis = schedule.nowMillis();
    while (!standing && !dead && !held.isEmpty()) {
      held.remove().run();
    }
  }

  /** SIGKILL: all of its memory is gone. */
  void die() {
    dead = true;
    held.clear();
  }

  EventLoop newLoop() {
    return new Loop();
  }

  /** A loop whose turns are happenings. */
  private final class Loop implements EventLoop {
    /** A turn takes a moment, so that a loop which asks to be called at once does not hold up time. */
    private static final long TURN_NANOS = 1_000;
    /** Turns in a second above which a loop counts as spinning. */
    private static final int MAX_TURNS = 20_000;
    private static final long SECOND_NANOS = 1_000_000_000;

    private @Nullable Duty duty;
    private long nextNanos = Long.MAX_VALUE;
    private long stamp;
    private boolean closed;
    private long second;
    private int turns;

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
      schedule.at(atNanos, () -> run(() -> {
        if (mine == stamp) {
          turn();
        }
      }));
    }

    private void turn() {
      if (closed || duty == null) {
        return;
      }
      nextNanos = Long.MAX_VALUE;
      countTurn();
      // As a thread does that parks for a time: a clock that is set meanwhile wakes no thread.
      long waitNanos = duty.turn() - clock.monotonicNanos();
      long atNanos = schedule.nowNanos() + Math.max(waitNanos, TURN_NANOS);
      if (atNanos < nextNanos) {
        turnAt(atNanos);
      }
    }

    private void countTurn() {
      long now = schedule.nowNanos() / SECOND_NANOS;
      turns = now == second ? turns + 1 : 1;
      second = now;
      if (turns == MAX_TURNS) {
        unmet.accept("a loop sleeps when it has nothing to do: turnsInASecond=" + turns + ", second=" + second);
      }
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
