package io.foliot.bench.timer;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
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
import org.openjdk.jmh.infra.ThreadParams;

/**
 * Single calls of timers that have threads of their own, from one producer thread or several, while a number of timers
 * wait of which none is due soon. A figure is what a call takes its caller.
 *
 * <pre>{@code
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes -Dbench.args="ActiveTimerBenchmark -t 1"
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes -Dbench.args="ActiveTimerBenchmark -t 2"
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes \
 *     -Dbench.args="ActiveTimerBenchmark.resetLater -t 1 -p contender=WHEEL_TIMER,NETTY -p live=1000000"
 * }</pre>
 *
 * <p>{@code DELAY_QUEUE} is left out unless it is asked for, because a cancel of its searches all timers, and
 * {@code FORK_JOIN_POOL} needs JDK 25. Each iteration has a new timer, so that one that keeps cancelled timers until
 * they would have fired, as {@code JAVA_TIMER} does, does not fill the heap; iterations should stay short for its sake.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ActiveTimerBenchmark {
  /** Large enough that what JMH does for each invocation is lost in it. */
  static final int BATCH = 500;

  /** The timer that all producers share. */
  @State(Scope.Benchmark)
  public static class Shared {
    @Param({"WHEEL_TIMER", "WHEEL_EXECUTOR", "NETTY", "KAFKA", "THREAD_POOL", "FORK_JOIN_POOL", "JAVA_TIMER"})
    String contender = "";

    @Param({"1000", "100000", "1000000"})
    int live;

    private final LongAdder fired = new LongAdder();
    private @Nullable Peer peer;

    @Setup(Level.Iteration)
    public void start() {
      peer = Contender.valueOf(contender).create();
    }

    /** Checks that the timers of this iteration were waiting all the time. */
    @TearDown(Level.Iteration)
    public void stop() {
      requireNonNull(peer, "peer").close();
      if (fired.sum() != 0) {
        throw new IllegalStateException("no timer may fire before it is due: fired=" + fired.sum());
      }
    }

    Producer producer(ThreadParams threads) {
      int share = live / threads.getThreadCount();
      return new Producer(requireNonNull(peer, "peer"), fired::increment, share, BATCH, threads.getThreadIndex());
    }
  }

  /** A thread with its part of the timers, and a batch more. */
  @State(Scope.Thread)
  public static class Filled {
    @Nullable
    Producer producer;

    @Setup(Level.Iteration)
    public void fill(Shared shared, ThreadParams threads) {
      producer = shared.producer(threads);
      producer.scheduleBatch();
    }

    Producer producer() {
      return requireNonNull(producer, "producer");
    }
  }

  /** A thread that lacks a batch of its timers. */
  @State(Scope.Thread)
  public static class LackingBatch extends Filled {
    @Setup(Level.Invocation)
    public void remove() {
      producer().pick();
      producer().cancelPicked();
    }
  }

  /** A thread that gets back the batch it loses. */
  @State(Scope.Thread)
  public static class LosingBatch extends Filled {
    @Setup(Level.Invocation)
    public void choose() {
      producer().pick();
    }

    @TearDown(Level.Invocation)
    public void giveBack() {
      producer().scheduleBatch();
    }
  }

  /** A thread that resets any of its timers. */
  @State(Scope.Thread)
  public static class Moving extends Filled {
    @Setup(Level.Invocation)
    public void choose() {
      producer().pick();
    }
  }

  /** A thread that brings timers nearer which it has pushed back just before. */
  @State(Scope.Thread)
  public static class MovingNearer extends Filled {
    @Setup(Level.Invocation)
    public void choose() {
      producer().pick();
      producer().resetPickedToLater();
    }
  }

  /** A new timer. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void schedule(LackingBatch state) {
    state.producer().scheduleBatch();
  }

  /** A cancel of any timer. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void cancel(LosingBatch state) {
    state.producer().cancelPicked();
  }

  /** The life of a request timeout. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void scheduleThenCancel(Filled state) {
    state.producer().scheduleThenCancelBatch();
  }

  /** A heartbeat; a cancel and a schedule where a timer has no reset. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void resetLater(Moving state) {
    state.producer().resetPickedToLater();
  }

  /** The other direction. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void resetNearer(MovingNearer state) {
    state.producer().resetPickedToNearer();
  }
}
