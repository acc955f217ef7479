package io.foliot.bench.store;

import io.foliot.api.Job;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Meter;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.Draft;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.Jobs;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Foliot's recurring jobs, each with one shard, and all with a scheduled time at the same instant. The jobs are put
 * before that instant, and the engine is started after it.
 */
final class JobBacklog implements Backlog {
  private static final Duration PERIOD = Duration.ofHours(1);
  /**
   * Constant part of the time from the first put to the instant. Together with the part for each job, it must cover all
   * puts.
   */
  private static final long FIRST_MILLIS = 2_000;
  private static final double MILLIS_PER_JOB = 0.5;
  private static final int UNDER_WAY = 1_000;

  private final TaskStore store;
  private final QueueConfig queue;
  private final LongAdder finished = new LongAdder();
  private @Nullable FoliotNode node;
  private int jobs;
  private long instantMillis;

  JobBacklog(TaskStore store, Duration retained) {
    this.store = store;
    queue = QueueConfig.builder(FoliotNode.QUEUE, Target.local()).retainFinished(retained)
        .retainFailed(Duration.ofDays(14)).build();
  }

  private CompletableFuture<List<SubmitResult>> write(List<Draft> drafts) {
    return store.submit(drafts).toCompletableFuture();
  }

  @Override
  public void fill(int tasks) {
    jobs = tasks;
    instantMillis = System.currentTimeMillis() + FIRST_MILLIS + (long) (MILLIS_PER_JOB * tasks);
    Duration offset = Duration.ofMillis(Math.floorMod(instantMillis, PERIOD.toMillis()));
    Jobs calls = new Jobs(store, this::write);
    Deque<CompletionStage<Jobs.Put>> underWay = new ArrayDeque<>();
    for (int number = 0; number < tasks; number++) {
      underWay.add(calls.put(Job.named("job-" + number).queue(queue.name()).every(PERIOD)
          .schedule(schedule -> schedule.offset(offset)).parameter(FoliotNode.body(number)).build()));
      if (underWay.size() == UNDER_WAY) {
        FoliotNode.await(underWay.remove());
      }
    }
    underWay.forEach(FoliotNode::await);
  }

  @Override
  public void start(Ledger ledger) throws InterruptedException {
    long leftMillis = instantMillis - System.currentTimeMillis();
    if (leftMillis < 0) {
      throw new IllegalStateException("the jobs must be put before their instant: lateMillis=" + -leftMillis);
    }
    TimeUnit.MILLISECONDS.sleep(leftMillis + 1);
    Meter meter = new Meter() {
      @Override
      public void settled(String name, String outcome, long durationMicros) {
        if (name.equals(queue.name()) && outcome.equals("finished")) {
          finished.increment();
        }
      }
    };
    node = FoliotNode.withJobs(store, queue, attempt -> {
      ledger.begun(FoliotNode.number(attempt.task().body()));
      return new Answer.Done("");
    }, meter);
  }

  @Override
  public boolean isDone() {
    return finished.sum() >= jobs;
  }

  @Override
  public void ensureDone(int drained) {
    FoliotNode.ensureCounts(store, "no shard may be live after the drain", counts -> counts.live() == 0);
    Jobs calls = new Jobs(store, this::write);
    JobStatus last = FoliotNode.await(calls.find("job-" + (drained - 1))).orElseThrow();
    Instant next = last.nextTime();
    if (last.totals().fired() != 1 || last.totals().missed() != 0 || next == null
        || next.toEpochMilli() != instantMillis + PERIOD.toMillis()) {
      throw new IllegalStateException("a job must have fired once and be due again an hour later: job=" + last);
    }
  }

  @Override
  public void close() {
    if (node != null) {
      node.close();
    }
    store.close();
  }
}
