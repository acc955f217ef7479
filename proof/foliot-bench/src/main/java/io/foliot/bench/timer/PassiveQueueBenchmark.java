package io.foliot.bench.timer;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures single operations of passive queues on their owner's thread, while many timers wait. The delays of the
 * timers are evenly spread over 2^16 ticks.
 *
 * <pre>{@code
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes -Dbench.args="PassiveQueueBenchmark -prof gc"
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes \
 *     -Dbench.args="PassiveQueueBenchmark.cancel -p form=TimerWheel,Agrona -p live=1000000"
 * }</pre>
 *
 * <p>{@code SortedListQueue} and {@code SortedRoundsWheel} are measured only if they are named, with {@code -p
 * form=SortedListQueue -p live=1000,10000}, because they search a list for each timer.
 *
 * <p>The timers that are cancelled, rescheduled or replaced are picked at random outside of the measured part. The
 * result of {@code expire} is in the line {@code timers}: the time for each timer that expires, including all moves of
 * the timer inside the queue.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PassiveQueueBenchmark {
  /** Calls per invocation. With this many, the overhead of JMH for each invocation is negligible. */
  static final int BATCH = 500;

  /** Number of delays, which are drawn in advance. A power of two, so that a mask wraps the index. */
  private static final int DELAYS = 1 << 16;

  private static final int MIDDLE_TICK = PassiveQueue.DELAY_TICKS_END / 2;

  /** A queue in which {@link #live} timers and one more batch wait. */
  @State(Scope.Thread)
  public static class Filled {
    @Param({"TimerWheel", "Agrona", "BoundedWheel", "RoundsWheel", "RadixHierarchy", "HeapQueue", "TreeQueue"})
    String form = "";

    @Param({"1000", "10000", "100000", "1000000", "10000000"})
    int live;

    final SplittableRandom random = new SplittableRandom(1);
    private final int[] delayTicks = random.ints(DELAYS, 1, PassiveQueue.DELAY_TICKS_END).toArray();
    private int nextDelay;
    PassiveQueue queue = PassiveQueue.create("TimerWheel");
    long[] handles = {};
    long nowTick;

    /**
     * Fills the queue. A queue that searches a list is filled in the order of deadlines, so that each search is short.
     */
    @Setup(Level.Trial)
    public void fill() {
      queue = PassiveQueue.create(form);
      handles = new long[live + BATCH];
      long[] deadlines = LongStream.generate(this::deadlineTick).limit(handles.length).toArray();
      if (form.startsWith("Sorted")) {
        Arrays.sort(deadlines);
      }
      Arrays.setAll(handles, index -> queue.schedule(deadlines[index]));
    }

    /** Checks that every call has done its work: as many timers wait as at the beginning. */
    @TearDown(Level.Trial)
    public void ensureFilled() {
      if (queue.size() != handles.length) {
        throw new IllegalStateException(
            "as many timers must wait as at the beginning: expected=" + handles.length + ", size=" + queue.size());
      }
    }

    long deadlineTick() {
      return nowTick + delayTicks[nextDelay++ & DELAYS - 1];
    }

    /** Moves the handles of a number of timers, picked at random, to the end of the array. */
    void pick(int count) {
      for (int index = handles.length - 1; index >= handles.length - count; index--) {
        int other = random.nextInt(index + 1);
        long handle = handles[index];
        handles[index] = handles[other];
        handles[other] = handle;
      }
    }

    void scheduleBatch() {
      for (int index = live; index < handles.length; index++) {
        handles[index] = queue.schedule(deadlineTick());
      }
    }

    void cancelBatch() {
      for (int index = live; index < handles.length; index++) {
        if (!queue.cancel(handles[index])) {
          throw new IllegalStateException("the cancel of a waiting timer must succeed: handle=" + handles[index]);
        }
      }
    }
  }

  /** A queue that lacks a batch of timers. */
  @State(Scope.Thread)
  public static class LackingBatch extends Filled {
    @Setup(Level.Invocation)
    public void remove() {
      pick(BATCH);
      cancelBatch();
    }
  }

  /** A queue that loses a batch in each invocation. The batch is then scheduled again. */
  @State(Scope.Thread)
  public static class LosingBatch extends Filled {
    @Setup(Level.Invocation)
    public void choose() {
      pick(BATCH);
    }

    @TearDown(Level.Invocation)
    public void giveBack() {
      scheduleBatch();
    }
  }

  /** A queue whose timers are rescheduled in random order, each once. After the last one, all are set back. */
  public abstract static class Moving extends Filled {
    private final int fromTick;
    private final int toTick;
    private int position;

    Moving(int fromTick, int toTick) {
      this.fromTick = fromTick;
      this.toTick = toTick;
      this.position = Integer.MAX_VALUE;
    }

    @Setup(Level.Invocation)
    public void setBack() {
      if (position >= handles.length) {
        for (int index = 0; index < handles.length; index++) {
          handles[index] = queue.reschedule(handles[index], deadlineTick(fromTick));
        }
        pick(handles.length);
        position = 0;
      }
    }

    private long deadlineTick(int baseTick) {
      return baseTick + (deadlineTick() & MIDDLE_TICK - 1);
    }

    void moveBatch() {
      for (int left = BATCH; left > 0; left--) {
        handles[position] = queue.reschedule(handles[position], deadlineTick(toTick));
        position++;
      }
    }
  }

  /** A queue whose timers move from the nearer half of all deadlines to the farther half. */
  @State(Scope.Thread)
  public static class MovingLater extends Moving {
    public MovingLater() {
      super(1, MIDDLE_TICK);
    }
  }

  /** A queue whose timers move from the farther half of all deadlines to the nearer half. */
  @State(Scope.Thread)
  public static class MovingNearer extends Moving {
    public MovingNearer() {
      super(MIDDLE_TICK, 1);
    }
  }

  /** A queue whose time advances. Each timer that expires is replaced by a new one. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  public static class Turning extends Filled {
    /** Number of timers that expired in this iteration. */
    public long timers;

    private int stepTicks;

    @Setup(Level.Iteration)
    public void begin() {
      timers = 0;
      // About one batch expires in a step, because a timer waits for half of the longest delay on average.
      stepTicks = Math.max(1, (int) ((long) BATCH * MIDDLE_TICK / handles.length));
    }

    @TearDown(Level.Invocation)
    public void replace() {
      while (queue.size() < handles.length) {
        queue.schedule(deadlineTick());
      }
    }

    int turn() {
      nowTick += stepTicks;
      int expired = queue.expire(nowTick);
      timers += expired;
      return expired;
    }
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void schedule(LackingBatch state) {
    state.scheduleBatch();
  }

  /** Cancels a random timer. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void cancel(LosingBatch state) {
    state.cancelBatch();
  }

  /** Schedules a timer and cancels it at once, as a request timeout does. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void scheduleThenCancel(Filled state) {
    for (int left = BATCH; left > 0; left--) {
      if (!state.queue.cancel(state.queue.schedule(state.deadlineTick()))) {
        throw new IllegalStateException("the cancel of a waiting timer must succeed");
      }
    }
  }

  /** Pushes a deadline back, as a heartbeat does. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void rescheduleLater(MovingLater state) {
    state.moveBatch();
  }

  /** Brings a deadline nearer. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void rescheduleNearer(MovingNearer state) {
    state.moveBatch();
  }

  /** Returns the tick until which the owner may sleep. */
  @Benchmark
  public long nextWake(Filled state) {
    return state.queue.nextWake();
  }

  /** Advances time until about a batch of timers has expired. */
  @Benchmark
  public int expire(Turning state) {
    return state.turn();
  }
}
