package io.foliot.bench.store;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Meter;
import io.foliot.core.Submission;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.HdrHistogram.Histogram;

/**
 * Measures the lateness of tasks that are submitted at a steady rate, each due one second after its submit. Lateness is
 * measured by the store's clock. The difference between the store's clock and this machine's clock is bounded by reads
 * of both clocks.
 */
final class Lateness {
  private static final Duration DELAY = Duration.ofSeconds(1);
  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final int CLOCK_READINGS = 50;
  private static final long ABSENT = Long.MIN_VALUE;

  private final int tasks;
  private final Pace pace;
  private final int unmeasured;
  /** For each task, its start by this machine's clock minus its due time by the store's clock, in microseconds. */
  private final AtomicLongArray lateMicros;
  private final Ledger ledger;

  /**
   * The lateness of the measured tasks, in milliseconds.
   *
   * @param earliest the least lateness; it may be negative, because the difference of the clocks is uncertain
   */
  record Distribution(double p50, double p99, double worst, double earliest) {}

  /**
   * Creates a measurement.
   *
   * @param time how long measured tasks are submitted
   * @param unmeasured how long other tasks are submitted first, to warm up the JIT compiler
   */
  Lateness(int perSecond, Duration time, Duration unmeasured) {
    pace = new Pace(perSecond);
    this.unmeasured = pace.count(unmeasured);
    tasks = this.unmeasured + pace.count(time);
    lateMicros = new AtomicLongArray(tasks);
    ledger = new Ledger(tasks);
    for (int number = 0; number < tasks; number++) {
      lateMicros.set(number, ABSENT);
    }
  }

  /** Bounds of the difference of the clocks, store's minus this machine's, in microseconds. */
  private record Ahead(long leastMicros, long mostMicros) {
    static Ahead measure(TaskStore store) {
      long least = Long.MIN_VALUE;
      long most = Long.MAX_VALUE;
      for (int i = 0; i < CLOCK_READINGS; i++) {
        long before = nowMicros();
        long there = FoliotNode.await(store.timeMicros(0));
        long after = nowMicros();
        least = Math.max(least, there - after);
        most = Math.min(most, there - before);
      }
      return new Ahead(least, most);
    }
  }

  private static long nowMicros() {
    Instant now = Instant.now();
    return TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + TimeUnit.NANOSECONDS.toMicros(now.getNano());
  }

  /** Measures the lateness over an empty store. */
  Distribution measure(TaskStore store) throws InterruptedException {
    QueueConfig queue = QueueConfig.of(FoliotNode.QUEUE, Target.local());
    Ahead ahead;
    try (FoliotNode node = new FoliotNode(store, queue, attempt -> {
      long now = nowMicros();
      int number = FoliotNode.number(attempt.task().body());
      lateMicros.set(number, now - TimeUnit.MILLISECONDS.toMicros(attempt.task().dueAt()));
      ledger.begun(number);
      return new Answer.Done("");
    }, Meter.NONE)) {
      ahead = Ahead.measure(store);
      submit(node);
      ledger.await(BOUND);
    }
    ledger.ensureEachOnce();
    long aheadMicros = (ahead.leastMicros() + ahead.mostMicros()) / 2;
    Histogram measured = new Histogram(Figures.DIGITS);
    LongSummaryStatistics extremes = new LongSummaryStatistics();
    for (int number = unmeasured; number < tasks; number++) {
      long micros = lateMicros.get(number) + aheadMicros;
      extremes.accept(micros);
      // A value is negative only because the difference of the clocks is uncertain.
      measured.recordValue(Math.max(0, micros));
    }
    long earliestMicros = extremes.getMin();
    // A task has begun early only if it is early for each possible difference of the clocks.
    if (earliestMicros + ahead.mostMicros() - aheadMicros < 0) {
      throw new IllegalStateException(
          "no task may begin before it is due: lateMicros=" + earliestMicros + ", clock=" + ahead);
    }
    return new Distribution(measured.getValueAtPercentile(50) / 1e3, measured.getValueAtPercentile(99) / 1e3,
        extremes.getMax() / 1e3, earliestMicros / 1e3);
  }

  private void submit(FoliotNode node) {
    List<CompletableFuture<SubmitResult>> answers = new ArrayList<>();
    pace.keep(tasks, number -> answers
        .add(node.scheduler().submit(Submission.after(FoliotNode.QUEUE, DELAY, FoliotNode.body(number)))));
    answers.forEach(FoliotNode::await);
  }
}
