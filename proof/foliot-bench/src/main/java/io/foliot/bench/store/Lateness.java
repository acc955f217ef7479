package io.foliot.bench.store;

import io.foliot.core.Meter;
import io.foliot.core.QueueConfig;
import io.foliot.core.Submission;
import io.foliot.core.Target;
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
 * The lateness of tasks that come at a steady rate, each due a second later: by the store's clock, whose difference
 * from this machine's is bounded by asking it.
 */
final class Lateness {
  private static final Duration DELAY = Duration.ofSeconds(1);
  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final int CLOCK_READINGS = 50;
  private static final long ABSENT = Long.MIN_VALUE;

  private final int tasks;
  private final Pace pace;
  private final int unmeasured;
  /** When each began by this machine's clock, less when it was due by the store's: microseconds. */
  private final AtomicLongArray lateMicros;
  private final Ledger ledger;

  /**
   * Figures in milliseconds.
   *
   * @param earliest the least late; negative only within what is not known of the clocks
   */
  record Distribution(double p50, double p99, double worst, double earliest) {}

  /**
   * A measurement.
   *
   * @param unmeasured how long tasks come before those that count, for the compilers
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

  /** The lead of the store's clock over this machine's, at least and at most, in microseconds. */
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

  /** Measures over an empty store. */
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
      // Less than nothing is the error of the clocks' difference.
      measured.recordValue(Math.max(0, micros));
    }
    long earliestMicros = extremes.getMin();
    // Early is what is so however far the clocks are apart within what is known of them.
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
