package io.foliot.sim;

import io.foliot.core.EventLoop;
import io.foliot.core.TimeSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A simulated operating system process of a node, from its start to its death. All actions of the node go through
 * {@link #run}, which defers them while the process is paused and drops them once it is dead.
 */
final class NodeProcess {
  private final Schedule schedule;
  private final TimeSource clock;
  private final Consumer<String> unmet;
  private final Deque<Runnable> deferred = new ArrayDeque<>();
  private boolean paused;
  private long resumedMillis = Long.MIN_VALUE;
  private boolean dead;

  /**
   * Creates a running process.
   *
   * @param unmet receives a message if a loop of the process spins
   */
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

  boolean isPaused() {
    return paused && !dead;
  }

  /** Runs an action in the process: now, or after the resume of a paused process, or never if the process is dead. */
  void run(Runnable action) {
    if (dead) {
      return;
    }
    if (paused) {
      deferred.add(action);
    } else {
      action.run();
    }
  }

  /** Pauses the process, as SIGSTOP does. */
  void pause() {
    paused = true;
  }

  /** Returns whether the process has run without a pause since an instant. */
  boolean hasRunSince(long millis) {
    return !paused && resumedMillis < millis;
  }

  /** Resumes the process, as SIGCONT does, and runs the deferred actions in the order of their arrival. */
  void resume() {
    paused = false;
    resumedMillis = schedule.nowMillis();
    while (!paused && !dead && !deferred.isEmpty()) {
      deferred.remove().run();
    }
  }

  /** Kills the process, as SIGKILL does. */
  void die() {
    dead = true;
    deferred.clear();
  }

  EventLoop newLoop() {
    return new Loop();
  }

  /** A loop whose turns are actions of the schedule. */
  private final class Loop implements EventLoop {
    /** Duration of a turn. It is positive, so time advances even if a duty requests its next turn at once. */
    private static final long TURN_NANOS = 1_000;
    /** Number of turns within a second that only a spinning loop reaches. */
    private static final int MAX_TURNS = 20_000;
    private static final long SECOND_NANOS = 1_000_000_000;

    private @Nullable Duty duty;
    /** Time of the planned turn; {@link Long#MAX_VALUE} if no turn is planned. */
    private long nextNanos = Long.MAX_VALUE;
    /** Number of the planned turn. Turns that were planned earlier do not run. */
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
      long turnStamp = stamp;
      schedule.at(atNanos, () -> run(() -> {
        if (turnStamp == stamp) {
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
      // The wait is in virtual time, like the wait of a parked thread. If the node's clock is set, the wait does not
      // end.
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
        unmet.accept("a loop without work must not spin: turnsPerSecond=" + turns + ", second=" + second);
      }
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
