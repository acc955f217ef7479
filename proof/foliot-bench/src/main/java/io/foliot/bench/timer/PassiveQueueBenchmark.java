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
 * Single operations of passive queues on their owner's thread, while a number of timers wait whose delays are evenly
 * spread over 2^16 ticks.
 *
 * <pre>{@code
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes -Dbench.args="PassiveQueueBenchmark -prof gc"
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes \
 *     -Dbench.args="PassiveQueueBenchmark.cancel -p form=TimerWheel,Agrona -p live=1000000"
 * }</pre>
 *
 * <p>{@code SortedListQueue} and {@code SortedRoundsWheel} are left out unless they are asked for, with {@code -p
 * form=SortedListQueue -p live=1000,10000}: they search a list for each timer.
 *
 * <p>The timers that are cancelled, rescheduled or replaced are picked at random outside of the measured part. {@code
 * expire} is to be read by its {@code timers} line, which is the time for each timer that expires, the way down from
 * where it was placed included.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PassiveQueueBenchmark {
  /** Large enough that what JMH does for each invocation is lost in it. */
  static final int BATCH = 500;

  /** A power of two. Delays are drawn beforehand. */
  private static final int DELAYS = 1 << 16;

  private static final int MIDDLE_TICK = PassiveQueue.DELAY_TICKS_END / 2;

  /** A queue in which timers wait, one batch more than the parameter says, and time does not move. */
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
     * Fills the queue, for those that search a list in the order of deadlines, in which they find each place at once.
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

    /** Checks that every call has done its work: as many timers wait as at first. */
    @TearDown(Level.Trial)
    public void ensureFilled() {
      if (queue.size() != handles.length) {
        throw new IllegalStateException(
            "as many timers must wait as at first: expected=" + handles.length + ", size=" + queue.size());
      }
    }

    long deadlineTick() {
      return nowTick + delayTicks[nextDelay++ & DELAYS - 1];
    }

    /** Moves a number of timers, picked at random, to the end. */
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
          throw new IllegalStateException("a timer that waits can be cancelled: handle=" + handles[index]);
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

  /** A queue that gets back the batch it loses. */
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

  /** A queue whose timers are rescheduled in random order, each once, and then all are set back. */
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

  /** Timers move from the nearer half of all deadlines to the other half. */
  @State(Scope.Thread)
  public static class MovingLater extends Moving {
    public MovingLater() {
      super(1, MIDDLE_TICK);
    }
  }

  /** Timers move from the farther half of all deadlines to the other half. */
  @State(Scope.Thread)
  public static class MovingNearer extends Moving {
    public MovingNearer() {
      super(MIDDLE_TICK, 1);
    }
  }

  /** A queue whose time advances, and in which each timer that expires is replaced by a new one. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  public static class Turning extends Filled {
    /** The timers that expired in this iteration. */
    public long timers;

    private int stepTicks;

    @Setup(Level.Iteration)
    public void begin() {
      timers = 0;
      // About one batch; a timer waits for half of the longest delay on average.
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

  /** A new timer. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void schedule(LackingBatch state) {
    state.scheduleBatch();
  }

  /** A cancel of any timer. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void cancel(LosingBatch state) {
    state.cancelBatch();
  }

  /** The life of a request timeout. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void scheduleThenCancel(Filled state) {
    for (int left = BATCH; left > 0; left--) {
      if (!state.queue.cancel(state.queue.schedule(state.deadlineTick()))) {
        throw new IllegalStateException("a timer that waits can be cancelled");
      }
    }
  }

  /** A heartbeat. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void rescheduleLater(MovingLater state) {
    state.moveBatch();
  }

  /** The other direction. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void rescheduleNearer(MovingNearer state) {
    state.moveBatch();
  }

  /** Returns how long the owner may sleep. */
  @Benchmark
  public long nextWake(Filled state) {
    return state.queue.nextWake();
  }

  /** Time going on, until about a batch of timers has expired. */
  @Benchmark
  public int expire(Turning state) {
    return state.turn();
  }
}
