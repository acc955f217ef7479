package io.foliot.bench.timer;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the steps that any timer must do to schedule a task, each step alone and all together. No design can
 * schedule faster than {@link #together}.
 *
 * <pre>{@code
 * mvn -q -ntp -pl :foliot-bench -am -Pjmh process-test-classes -Dbench.args=FloorBenchmark
 * }</pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
@State(Scope.Thread)
public class FloorBenchmark {
  private final AtomicLong word = new AtomicLong();

  /** An object as large as the handle of a timer. */
  record Node(long deadlineNanos, Object owner, Object task, int stamp) {}

  @Benchmark
  public long clock() {
    return System.nanoTime();
  }

  @Benchmark
  public boolean compareAndSet() {
    long before = word.getPlain();
    return word.compareAndSet(before, before + 1);
  }

  @Benchmark
  public Node allocation() {
    return new Node(word.getPlain(), word, word, 0);
  }

  /** Does the least that a schedule needs: reads the clock, creates the timer, and takes a place in the hand-off. */
  @Benchmark
  public Node together() {
    Node node = new Node(System.nanoTime(), word, word, 0);
    long before = word.getPlain();
    if (!word.compareAndSet(before, before + 1)) {
      throw new IllegalStateException("no other thread may write the word: before=" + before);
    }
    return node;
  }
}
