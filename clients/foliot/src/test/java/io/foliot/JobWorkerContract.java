package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Job;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.backends.Await;
import io.foliot.client.Dataflow;
import io.foliot.client.Fence;
import io.foliot.client.FoliotJob;
import io.foliot.client.JobContext;
import io.foliot.client.JobListener;
import io.foliot.client.JobResult;
import io.foliot.client.JobWorker;
import io.foliot.client.Payload;
import io.foliot.client.RunEnd;
import io.foliot.client.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Tests of {@link Foliot#workers} that each way to open a {@link Foliot} must pass. Each way has a test class that
 * extends this class.
 */
abstract class JobWorkerContract {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final List<Object> seen = new CopyOnWriteArrayList<>();

  /** Opens a {@link Foliot} in the way that this class tests, with the settings of the builder. */
  abstract Foliot open(FoliotBuilder builder);

  final Foliot open() {
    return open(Foliot.builder());
  }

  private void awaitSeen(int count) {
    Await.until(count + " events are noted", BOUND, () -> seen.size() >= count);
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  /** Returns a job that runs at once, and not again during the test. */
  private static Job.Builder once(String name) {
    return Job.named(name).after(Duration.ofHours(1));
  }

  /** A listener that records its calls. */
  private record NotingListener(List<Object> seen) implements JobListener {
    @Override
    public void before(JobContext job) {
      seen.add("before " + job.shard());
    }

    @Override
    public void after(JobContext job, @Nullable JobResult result, @Nullable Throwable failure) {
      seen.add("after " + result);
    }
  }

  @Test
  void aShardOfADeclaredJobReachesItsHandler() {
    try (Foliot foliot = open()) {
      JobWorker worker = foliot.workers().of("billing").zone("fra1").concurrency(8)
          .declare(once("report").shards(2, "eu").parameter("{\"kind\": 1}").maxAttempts(3))
          .handle("other", job -> JobResult.giveUp("wrong")).handle("report", job -> {
            Payload parameter = job.parameter();
            seen.add(job.job() + " " + job.shard() + "/" + job.shards() + " " + job.shardParameter() + " "
                + (parameter == null ? null : parameter.toText()) + " " + job.missed() + " " + job.checkpoint() + " "
                + (job.fence().compareTo(new Fence(0, 0)) > 0));
            return JobResult.done("412 rows");
          }).start();
      awaitSeen(2);
      assertThat(Set.copyOf(seen)).containsExactlyInAnyOrder("report 0/2 eu {\"kind\": 1} 0 null true",
          "report 1/2 null {\"kind\": 1} 0 null true");
      assertThat(worker.isTerminated()).isFalse();
    }
    assertThat(seen).hasSize(2);
  }

  @Test
  void aJobWithoutAParameterHasNone() {
    try (Foliot foliot = open()) {
      foliot.workers().of("billing").declare(once("report")).handle("report", job -> {
        seen.add(job.parameter() == null);
        return JobResult.done();
      }).start();
      awaitSeen(1);
    }
    assertThat(seen).containsExactly(true);
  }

  @Test
  void listenersSeeARunOnceBeforeAndAfterItsShards() {
    JobListener listener = new JobListener() {
      @Override
      public void onRunStarted(JobContext job) {
        seen.add("started, shards " + job.shards());
      }

      @Override
      public void onRunEnded(JobContext job, RunEnd end) {
        seen.add("ended " + end.result() + ", failed " + end.failed());
      }
    };
    try (Foliot foliot = open()) {
      foliot.workers().of("billing").listener(listener)
          .declare(once("report").shards(2).runListeners(RunPhase.BEFORE, RunPhase.AFTER)).handle("report", job -> {
            seen.add("shard");
            return job.shard() == 0 ? JobResult.done() : JobResult.giveUp("on purpose");
          }).start();
      awaitSeen(4);
    }
    assertThat(seen).containsExactly("started, shards 2", "shard", "shard", "ended FAILED, failed 1");
  }

  @Test
  void aFailedAttemptIsRepeatedFromItsCheckpoint() {
    try (Foliot foliot = open()) {
      foliot.workers().of("billing").onError((what, failure) -> {}).listener(new NotingListener(seen))
          .declare(once("pages")).handle("pages", job -> {
            if (job.checkpoint() == null) {
              job.progress(0.5, "half");
              job.log("first");
              job.checkpoint("page 7");
              return JobResult.failed("on purpose", Duration.ZERO);
            }
            return JobResult.done(job.checkpoint() + " of attempt " + job.fence().attempt());
          }).start();
      awaitSeen(4);
    }
    assertThat(seen).containsExactly("before 0", "after Failed[reason=on purpose, delay=PT0S]", "before 0",
        "after Done[text=page 7 of attempt 2]");
  }

  @Test
  void aRequestedRunContinuesFromTheCheckpoint() {
    try (Foliot foliot = open()) {
      foliot.workers().of("flows").declare(once("flow"))
          .dataflow("flow", new Counter(), new Dataflow.Mode(true, Duration.ofNanos(1))).start();
      awaitSeen(3);
    }
    assertThat(seen).containsExactly(1, 2, 3);
  }

  /** A data flow of three items. Each run of the job processes one item. */
  private final class Counter implements Dataflow<Integer> {
    @Override
    public List<Integer> fetch(JobContext job, @Nullable String checkpoint) {
      int next = checkpoint == null ? 1 : Integer.parseInt(checkpoint) + 1;
      return next > 3 ? List.of() : List.of(next);
    }

    @Override
    public String process(JobContext job, List<Integer> items) {
      seen.addAll(items);
      return items.getLast().toString();
    }
  }

  @Test
  void aHandlerEndsItsJob() throws InterruptedException {
    try (Foliot foliot = open()) {
      JobWorker worker = foliot.workers().of("billing").declare(Job.named("alarm").every(SECOND))
          .declare(Job.named("clock").every(SECOND)).handle("alarm", job -> {
            seen.add("alarm");
            return JobResult.endJob("the cause is gone");
          }).handle("clock", job -> {
            seen.add("tick");
            return JobResult.done();
          }).start();
      Await.until("the clock continues to tick after the alarm", BOUND,
          () -> seen.contains("alarm") && seen.subList(seen.indexOf("alarm"), seen.size()).size() > 5);
      assertThat(worker.stop(BOUND)).isTrue();
    }
    assertThat(seen.stream().filter("alarm"::equals)).hasSize(1);
  }

  static final class Bean {
    private final List<Object> seen;

    Bean(List<Object> seen) {
      this.seen = seen;
    }

    @FoliotJob(name = "warm-cache", every = "1s", scope = Scope.ALL, runAtStart = true)
    String warm(JobContext job) {
      seen.add(job.fence().equals(new Fence(0, 0)) ? "at start" : "as target " + job.shard() + "/" + job.shards());
      return "warm";
    }
  }

  @Test
  void anAnnotatedMethodRunsAtStartAndOnEachWorker() {
    try (Foliot foliot = open()) {
      foliot.workers().of("billing").zone("fra1").handlers(new Bean(seen)).start();
      Await.until("the method runs as a target of the scope", BOUND, () -> seen.contains("as target 0/1"));
    }
    assertThat(seen).contains("at start");
  }

  @Test
  void eachZoneAndEachWorkerHasItsShard() {
    Set<String> places = ConcurrentHashMap.newKeySet();
    try (Foliot foliot = open()) {
      for (String zone : List.of("fra1", "nyc2")) {
        foliot.workers().of("fleet").name("worker-" + zone).zone(zone)
            .declare(Job.named("each").every(SECOND).scope(Scope.ALL))
            .declare(Job.named("zones").every(SECOND).scope(Scope.PER_ZONE).zones("fra1", "nyc2"))
            .handle("each", job -> {
              places.add("each " + zone + " of " + job.shards());
              return JobResult.done();
            }).handle("zones", job -> {
              places.add("zones " + zone + ", shard " + job.shard() + " of " + job.shards());
              return JobResult.done();
            }).start();
      }
      Await.until("both jobs run in both zones", BOUND,
          () -> places.containsAll(List.of("each fra1 of 2", "each nyc2 of 2", "zones fra1, shard 0 of 1",
              "zones nyc2, shard 0 of 1")));
    }
  }

  @Test
  void aTaskOfNoJobGoesToTheTaskHandler() {
    try (Foliot foliot = open()) {
      foliot.workers().of("mixed").handle("report", job -> JobResult.done()).tasks(task -> {
        Payload payload = task.payload();
        seen.add((payload == null ? "" : payload.toText()) + " " + task.attempt());
        return task.attempt() == 1 ? Settlement.nack("once more", Duration.ZERO) : Settlement.ack();
      }).start();
      foliot.tasks("mixed", String.class).now().submit("plain");
      awaitSeen(2);
    }
    assertThat(seen).containsExactly("plain 1", "plain 2");
  }

  @Test
  void theHandlerOfARunBeyondItsTimeoutIsInterrupted() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    try (Foliot foliot = open()) {
      foliot.workers().of("billing").lease(Duration.ofMillis(1_500)).onError((what, failure) -> {})
          .declare(once("long").timeout(SECOND)).handle("long", job -> {
            begun.countDown();
            try {
              never.await();
            } catch (InterruptedException e) {
              seen.add("lost " + job.isLost());
              throw e;
            }
            return JobResult.done();
          }).start();
      await(begun);
      awaitSeen(1);
    }
    // On a slow machine the lease may end before the timeout of the run. Another attempt then follows.
    assertThat(seen).containsOnly("lost true");
  }

  @Test
  void aLeaseIsRenewedWhileTheHandlerRuns() {
    // On a slow machine an attempt may lose its lease; a later attempt succeeds. Without renewal no attempt succeeds.
    Duration lease = Duration.ofSeconds(2);
    try (Foliot foliot = open()) {
      foliot.workers().of("billing").lease(lease).onError((what, failure) -> {}).declare(once("long"))
          .handle("long", job -> {
            Instant begun = Instant.now();
            job.checkpointNow("stored");
            Await.until("two leases have passed", BOUND, () -> job.isLost()
                || Duration.between(begun, Instant.now()).compareTo(lease.multipliedBy(2)) > 0);
            job.ensureRuns();
            seen.add("held, with checkpoint " + job.checkpoint());
            return JobResult.done();
          }).start();
      awaitSeen(1);
    }
    assertThat(seen).containsExactly("held, with checkpoint stored");
  }

  @Test
  void aStoppedWorkerGivesItsShardToAnotherWorker() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    try (Foliot foliot = open()) {
      JobWorker first = foliot.workers().of("billing").declare(once("long")).handle("long", job -> {
        job.checkpoint("half");
        begun.countDown();
        Await.until("the worker stops", BOUND, job::isStopping);
        job.ensureRuns();
        return JobResult.done();
      }).start();
      await(begun);
      assertThat(first.stop(BOUND)).isTrue();
      assertThat(first.isTerminated()).isTrue();
      foliot.workers().of("billing").handle("long", job -> {
        seen.add("from " + job.checkpoint());
        return JobResult.done();
      }).start();
      awaitSeen(1);
    }
    assertThat(seen).containsExactly("from half");
  }

  @Test
  void aCloseOfFoliotStopsItsWorkers() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    JobWorker worker;
    try (Foliot foliot = open(Foliot.builder().patience(Duration.ofMillis(200)))) {
      worker = foliot.workers().of("billing").declare(once("long")).handle("long", job -> {
        begun.countDown();
        try {
          never.await();
        } catch (InterruptedException e) {
          seen.add("interrupted, stopping " + job.isStopping());
          throw e;
        }
        return JobResult.done();
      }).start();
      await(begun);
    }
    Await.until("the handler is interrupted", BOUND, () -> !seen.isEmpty());
    assertThat(seen).containsExactly("interrupted, stopping true");
    assertThat(worker.stop(BOUND)).isTrue();
  }

  @Test
  void aWorkerThatStartsAfterTheCloseIsRefused() {
    Foliot foliot = open();
    JobWorker.Builder late = foliot.workers().of("billing").handle("report", job -> JobResult.done());
    foliot.close();
    assertThatThrownBy(late::start).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
  }

  @Test
  void impossibleUsesAreRefusedWithTheReason() {
    try (Foliot foliot = open()) {
      assertThatThrownBy(() -> foliot.workers().of("no such name")).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no such name");
      JobWorker.Builder worker = foliot.workers().of("billing");
      assertThatThrownBy(() -> worker.declare(Job.named("report").cron("nonsense")))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("cron");
      JobWorker.Builder noCalendar = worker.declare(once("report").exclude("no such days"))
          .handle("report", job -> JobResult.done());
      assertThatThrownBy(noCalendar::start).isInstanceOf(RuntimeException.class).hasMessageContaining("exclude")
          .hasMessageContaining("no such days");
    }
  }
}
