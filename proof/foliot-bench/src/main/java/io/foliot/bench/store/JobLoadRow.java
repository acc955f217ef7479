package io.foliot.bench.store;

import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Meter;
import io.foliot.core.Submission;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import io.foliot.jobs.Jobs;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Measures many recurring jobs, each with one shard and a handler that does nothing, for some periods. The figures are
 * the lateness of each firing, by this machine's clock, and the lateness of tasks of another queue in the same time. A
 * firing that is missing or repeated fails the measurement.
 *
 * @param name the name of the row in the options
 * @param title the title of the table
 * @param site the server that is measured
 * @param isSpread whether the jobs have their own offsets; else all have their scheduled times at the same instants
 * @param wantedMillis the goal for the 99th percentile of the lateness: of the jobs if they are spread, else of the
 *     other tasks
 */
record JobLoadRow(String name, String title, Function<Sites, Site> site, boolean isSpread,
    double wantedMillis) implements Row {
  private static final int JOBS = 50_000;
  private static final Duration PERIOD = Duration.ofMinutes(1);
  private static final int PERIODS = 2;
  private static final int UNDER_WAY = 1_000;
  private static final String OTHER = "other";
  private static final int OTHERS_PER_SECOND = 100;
  private static final Duration DELAY = Duration.ofSeconds(1);
  /** Longest wait for the last firings. After the last period, other tasks are submitted for half of this time. */
  private static final long GRACE_MILLIS = 20_000;

  /** Returns false, because the row takes minutes. */
  @Override
  public boolean isUsual() {
    return false;
  }

  /** The shards and other tasks that have begun. Thread-safe. */
  private static final class Seen {
    /** The latest scheduled time of each job that has fired, in ms since the epoch; 0 if the job has not fired. */
    private final AtomicLongArray last;
    private final Histogram late = new ConcurrentHistogram(Figures.DIGITS);
    private final Histogram otherLate = new ConcurrentHistogram(Figures.DIGITS);
    private final LongAdder firings = new LongAdder();
    private final LongAdder gaps = new LongAdder();
    private final LongAdder others = new LongAdder();
    /** Bounds of the measured due times, in ms since the epoch: from is inclusive, to is exclusive. */
    private volatile long fromMillis = Long.MAX_VALUE;
    private volatile long toMillis = Long.MAX_VALUE;

    Seen(int jobs) {
      last = new AtomicLongArray(jobs);
    }

    void fired(int job, long scheduled) {
      long before = last.getAndSet(job, scheduled);
      if (before != 0 && scheduled != before + PERIOD.toMillis()) {
        gaps.increment();
      }
      if (scheduled >= fromMillis && scheduled < toMillis) {
        firings.increment();
        late.recordValue(Math.max(0, System.currentTimeMillis() - scheduled));
      }
    }

    void otherBegan(long due) {
      others.increment();
      if (due >= fromMillis && due < toMillis) {
        otherLate.recordValue(Math.max(0, System.currentTimeMillis() - due));
      }
    }
  }

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    Site measured = site.apply(sites);
    FigureTable table = new FigureTable(name, title);
    Seen seen = new Seen(JOBS);
    QueueConfig queue = QueueConfig.builder(FoliotNode.QUEUE, Target.local()).retainFinished(Rows.KEPT).build();
    try (TaskStore store = measured.openStore(); FoliotNode node = FoliotNode.withJobs(store, queue, attempt -> {
      Map<String, String> headers = attempt.task().body().headers();
      seen.fired(FoliotNode.number(attempt.task().body()),
          Instant.parse(headers.getOrDefault(JobHeaders.SCHEDULED_AT, "")).toEpochMilli());
      return new Answer.Done("");
    }, Meter.NONE, OTHER, attempt -> {
      seen.otherBegan(attempt.task().dueAt());
      return new Answer.Done("");
    })) {
      long begun = System.nanoTime();
      put(node.jobs(store), queue.name());
      table.add("Foliot", "put, a second", JOBS * 1e9 / (System.nanoTime() - begun));
      measured.settle();
      // The first period warms up the JIT compiler.
      long period = PERIOD.toMillis();
      seen.fromMillis = Math.ceilDiv(System.currentTimeMillis(), period) * period + period;
      seen.toMillis = seen.fromMillis + PERIODS * period;
      progress.report(name + ", for " + (seen.toMillis - System.currentTimeMillis()) / 1_000 + " s");
      int submitted = others(node, seen.toMillis + GRACE_MILLIS / 2);
      ensureAll(seen, submitted);
      table.add("Foliot", "jobs late p50, ms", percentile(seen.late, 50));
      table.add("Foliot", "p99", percentile(seen.late, 99));
      table.add("Foliot", "most", percentile(seen.late, 100));
      table.add("Foliot", "other tasks late p50, ms", percentile(seen.otherLate, 50));
      table.add("Foliot", "p99 of these", percentile(seen.otherLate, 99));
      double p99 = isSpread ? percentile(seen.late, 99) : percentile(seen.otherLate, 99);
      table.addGoal((isSpread ? "jobs" : "other tasks") + " p99 at most " + Figures.shown(wantedMillis) + " ms",
          p99 <= wantedMillis);
      if (!isSpread) {
        // The firings of an instant take the greatest lateness to begin, so this is their rate.
        table.add("Foliot", "begun, a second", JOBS * 1e3 / percentile(seen.late, 100));
      }
    }
    return table;
  }

  private static double percentile(Histogram millis, int part) {
    return (double) millis.getValueAtPercentile(part);
  }

  private void put(Jobs jobs, String queue) {
    Deque<CompletionStage<Jobs.Put>> underWay = new ArrayDeque<>();
    for (int number = 0; number < JOBS; number++) {
      Job.Builder job = Job.named("job-" + number).queue(queue).every(PERIOD).parameter(FoliotNode.body(number));
      underWay.add(jobs.put(isSpread ? job.build() : job.schedule(every -> every.offset(Duration.ZERO)).build()));
      if (underWay.size() == UNDER_WAY) {
        FoliotNode.await(underWay.remove());
      }
    }
    underWay.forEach(FoliotNode::await);
  }

  /** Submits tasks of the other queue at a steady rate until an instant. Returns the number of tasks. */
  private static int others(FoliotNode node, long untilMillis) {
    List<CompletableFuture<SubmitResult>> answers = new ArrayList<>();
    Pace pace = new Pace(OTHERS_PER_SECOND);
    pace.keep(pace.count(Duration.ofMillis(untilMillis - System.currentTimeMillis())), number -> answers
        .add(node.scheduler().submit(Submission.after(OTHER, DELAY, FoliotNode.body(number)))));
    answers.forEach(FoliotNode::await);
    return answers.size();
  }

  private static void ensureAll(Seen seen, int submitted) throws InterruptedException {
    long bound = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(GRACE_MILLIS);
    long wanted = (long) PERIODS * JOBS;
    while ((seen.firings.sum() < wanted || seen.others.sum() < submitted) && System.nanoTime() < bound) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    if (seen.firings.sum() != wanted || seen.gaps.sum() != 0 || seen.others.sum() != submitted) {
      throw new IllegalStateException("every job must fire once a period, and every task must begin: firings="
          + seen.firings.sum() + ", wanted=" + wanted + ", gaps=" + seen.gaps.sum() + ", tasks=" + seen.others.sum()
          + ", submitted=" + submitted);
    }
  }
}
