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
 * Measures calls from one or several producer threads to contenders, while many timers wait. A contender is a timer
 * facility with threads of its own. None of the waiting timers is due soon. A figure is the duration of a call.
 *
 * <pre>{@code
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes -Dbench.args="ActiveTimerBenchmark -t 1"
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes -Dbench.args="ActiveTimerBenchmark -t 2"
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes \
 *     -Dbench.args="ActiveTimerBenchmark.resetLater -t 1 -p contender=WHEEL_TIMER,NETTY -p live=1000000"
 * }</pre>
 *
 * <p>{@code DELAY_QUEUE} is measured only if it is named, because its cancel searches all timers.
 * {@code FORK_JOIN_POOL} needs JDK 25. {@code JAVA_TIMER} keeps cancelled timers until they would have fired. So that
 * these timers do not fill the heap, each iteration creates a new contender, and iterations should be short.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ActiveTimerBenchmark {
  /** Calls per invocation. With this many, the overhead of JMH for each invocation is negligible. */
  static final int BATCH = 500;

  /** The contender that all producers share. */
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

    /** Closes the contender, and checks that no timer has fired. */
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

  /** A thread with its share of the waiting timers, and one batch more. */
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

  /** A thread that schedules a batch again after each invocation has cancelled one. */
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

  /** A thread that resets a random batch of its timers. */
  @State(Scope.Thread)
  public static class Moving extends Filled {
    @Setup(Level.Invocation)
    public void choose() {
      producer().pick();
    }
  }

  /** A thread that brings deadlines nearer, after it has pushed them back. */
  @State(Scope.Thread)
  public static class MovingNearer extends Filled {
    @Setup(Level.Invocation)
    public void choose() {
      producer().pick();
      producer().resetPickedToLater();
    }
  }

  /** Schedules a new timer. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void schedule(LackingBatch state) {
    state.producer().scheduleBatch();
  }

  /** Cancels a random timer. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void cancel(LosingBatch state) {
    state.producer().cancelPicked();
  }

  /** Schedules a timer and cancels it at once, as a request timeout does. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void scheduleThenCancel(Filled state) {
    state.producer().scheduleThenCancelBatch();
  }

  /** Pushes a deadline back, as a heartbeat does. A contender without a reset cancels and schedules instead. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void resetLater(Moving state) {
    state.producer().resetPickedToLater();
  }

  /** Brings a deadline nearer. A contender without a reset cancels and schedules instead. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void resetNearer(MovingNearer state) {
    state.producer().resetPickedToNearer();
  }
}
