package io.foliot.bench.store;

import io.foliot.api.Job;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Meter;
import io.foliot.core.Submission;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.TaskStore;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.Jobs;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/**
 * Measures calls on recurring jobs over PostgreSQL, through one node:
 *
 * <ul>
 * <li>the put of a new job, and for comparison the submit of a task with a key, by one caller that waits for each
 * answer;
 * <li>puts, a thousand of them under way at a time;
 * <li>a run of many shards, from the first shard to the last, and from there until a reader sees the end of the run.
 * </ul>
 */
final class JobCallsRow implements Row {
  private static final int CALLS = 1_000;
  private static final int PUTS = 30_000;
  private static final int UNDER_WAY = 1_000;
  private static final int SHARDS = 10_000;
  private static final Duration LATER = Duration.ofDays(1);
  private static final Duration BOUND = Duration.ofMinutes(1);
  private static final String LINE = "Foliot";
  private static final String SUBMIT = "submit with a key p50, ms";
  private static final String PUT = "put p50, ms";
  private static final String PUTS_A_SECOND = "puts, a second";
  private static final String SHARDS_A_SECOND = "shards, a second";
  private static final String END = "end seen after, ms";

  /** The number for the next name or key. */
  private long next;

  @Override
  public String name() {
    return "postgres-jobs-calls";
  }

  @Override
  public boolean isUsual() {
    return false;
  }

  @Override
  public Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception {
    PostgresSite site = sites.postgres();
    FigureTable table = new FigureTable(name(), "PostgreSQL: calls on jobs, and a run of 10,000 shards");
    QueueConfig queue = QueueConfig.builder(FoliotNode.QUEUE, Target.local()).retainFinished(Rows.KEPT).build();
    LongAdder begun = new LongAdder();
    AtomicLong firstNanos = new AtomicLong();
    AtomicLong lastNanos = new AtomicLong();
    try (TaskStore store = site.openStore(); FoliotNode node = FoliotNode.withJobs(store, queue, attempt -> {
      long now = System.nanoTime();
      firstNanos.compareAndSet(0, now);
      lastNanos.accumulateAndGet(now, Math::max);
      begun.increment();
      return new Answer.Done("");
    }, Meter.NONE)) {
      Jobs jobs = node.jobs(store);
      for (int round = options.isWarm() ? 0 : 1; round <= options.rounds(); round++) {
        progress.report(name() + ", round " + round);
        List<Double> figures = new ArrayList<>(List.of(submits(node), puts(jobs), manyPuts(jobs)));
        begun.reset();
        firstNanos.set(0);
        lastNanos.set(0);
        Job sharded = Job.named("sharded-" + next++).queue(FoliotNode.QUEUE).cron("0 2 1 1 *").shards(SHARDS).build();
        FoliotNode.await(jobs.put(sharded));
        FoliotNode.await(jobs.trigger(sharded.name(), null));
        awaitEnd(jobs, sharded.name());
        long seenNanos = System.nanoTime();
        if (begun.sum() != SHARDS) {
          throw new IllegalStateException("each shard must begin once: shards=" + SHARDS + ", begun=" + begun.sum());
        }
        figures.add(SHARDS * 1e9 / (lastNanos.get() - firstNanos.get()));
        figures.add((seenNanos - lastNanos.get()) / 1e6);
        List<String> columns = List.of(SUBMIT, PUT, PUTS_A_SECOND, SHARDS_A_SECOND, END);
        for (int i = 0; round > 0 && i < columns.size(); i++) {
          table.add(LINE, columns.get(i), figures.get(i));
        }
      }
    }
    double times = table.median(LINE, PUT) / table.median(LINE, SUBMIT);
    table.addGoal("the put takes at most 1.5 times as long as the submit: times=" + Figures.shown(times), times <= 1.5);
    table.addGoal("10,000 puts a second", table.median(LINE, PUTS_A_SECOND) >= 10_000);
    table.addGoal("10,000 shards a second", table.median(LINE, SHARDS_A_SECOND) >= 10_000);
    table.addGoal("the end seen within a second", table.median(LINE, END) <= 1_000);
    return table;
  }

  private Job newJob() {
    return Job.named("job-" + next++).queue(FoliotNode.QUEUE).cron("0 2 1 1 *").build();
  }

  /** Returns the median time of a submit, in ms. */
  private double submits(FoliotNode node) {
    Histogram nanos = new Histogram(Figures.DIGITS);
    for (int i = 0; i < CALLS; i++) {
      long begun = System.nanoTime();
      FoliotNode.await(node.scheduler().submit(Submission.after(FoliotNode.QUEUE, LATER, FoliotNode.body(i)).toBuilder()
          .key("key-" + next++).build()));
      nanos.recordValue(System.nanoTime() - begun);
    }
    return nanos.getValueAtPercentile(50) / 1e6;
  }

  /** Returns the median time of a put, in ms. */
  private double puts(Jobs jobs) {
    Histogram nanos = new Histogram(Figures.DIGITS);
    for (int i = 0; i < CALLS; i++) {
      Job job = newJob();
      long begun = System.nanoTime();
      FoliotNode.await(jobs.put(job));
      nanos.recordValue(System.nanoTime() - begun);
    }
    return nanos.getValueAtPercentile(50) / 1e6;
  }

  /** Returns the number of puts per second. */
  private double manyPuts(Jobs jobs) {
    long begun = System.nanoTime();
    Deque<CompletionStage<Jobs.Put>> underWay = new ArrayDeque<>();
    for (int i = 0; i < PUTS; i++) {
      underWay.add(jobs.put(newJob()));
      if (underWay.size() == UNDER_WAY) {
        FoliotNode.await(underWay.remove());
      }
    }
    underWay.forEach(FoliotNode::await);
    return PUTS * 1e9 / (System.nanoTime() - begun);
  }

  private static void awaitEnd(Jobs jobs, String name) throws InterruptedException {
    long bound = System.nanoTime() + BOUND.toNanos();
    JobStatus status;
    do {
      TimeUnit.MILLISECONDS.sleep(20);
      status = FoliotNode.await(jobs.find(name)).orElseThrow();
      if (System.nanoTime() > bound) {
        throw new IllegalStateException("a run must end in time: job=" + status);
      }
    } while (status.totals().succeeded() == 0);
  }
}
