package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Scope;
import io.foliot.api.Target;
import io.foliot.backends.Await;
import io.foliot.client.Dataflow;
import io.foliot.client.Fence;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotJob;
import io.foliot.client.JobContext;
import io.foliot.client.JobResult;
import io.foliot.client.JobWorker;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Job workers that claim from a real server. */
final class JobWorkerServerTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  @TempDir
  private Path data;

  private final List<String> seen = new CopyOnWriteArrayList<>();
  private final List<Fence> fences = new CopyOnWriteArrayList<>();
  private FoliotServer server;
  private FoliotClient client;

  @BeforeEach
  void start() {
    FoliotConfig config = FoliotConfig.load(Map.of("store", "rocksdb", "data", data.toString(), "port", "0"), Map.of(),
        null);
    server = FoliotServer.start(config, new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
    client = FoliotClient.builder(URI.create(server.url())).build();
    client.putQueue(QueueConfig.builder("billing", Target.pull())
        .retry(new Retry(5, Duration.ofMillis(100), 1.0, Duration.ofSeconds(1), 0.0)).build());
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private JobWorker.Builder worker(String name) {
    return JobWorker.builder(client, "billing").name(name).pollWait(Duration.ofSeconds(1));
  }

  /** Creates a job that the test triggers; its period is one day. */
  private void create(String job, int shards) {
    client.putJob(Job.named(job).queue("billing").every(Duration.ofDays(1)).shards(shards).build());
  }

  /** Waits until the named total of a job is 1. */
  private void awaitTotal(String job, String total) {
    Await.until(total, BOUND, () -> Objects.equals(client.getJob(job).totals().get(total), 1L));
  }

  @Test
  void theNextAttemptContinuesUnderAGreaterFence() {
    create("report", 1);
    try (JobWorker worker = worker("a").handle("report", job -> {
      seen.add(job.shard() + "/" + job.shards() + " from " + job.checkpoint());
      fences.add(job.fence());
      if (job.checkpoint() == null) {
        job.checkpointNow("page 7");
        throw new IllegalStateException("disk full");
      }
      return JobResult.done("412 rows");
    }).onError((what, failure) -> assertThat(failure).hasMessageContaining("disk full")).start()) {
      client.triggerJob("report", null);
      awaitTotal("report", "succeeded");
      assertThat(worker).isNotNull();
    }
    assertThat(seen).containsExactly("0/1 from null", "0/1 from page 7");
    assertThat(fences).hasSize(2).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void aStoppedWorkerHandsOverItsShard() throws InterruptedException {
    create("report", 1);
    CountDownLatch begun = new CountDownLatch(1);
    JobWorker first = worker("a").handle("report", job -> {
      job.checkpoint("page 7");
      begun.countDown();
      Await.until("the worker stops", BOUND, job::isStopping);
      job.ensureRuns();
      return JobResult.done();
    }).start();
    client.triggerJob("report", null);
    begun.await();
    assertThat(first.stop(BOUND)).isTrue();
    try (JobWorker second = worker("b").handle("report", job -> JobResult.done("from " + seen.add(job.checkpoint())))
        .start()) {
      awaitTotal("report", "succeeded");
      assertThat(second).isNotNull();
    }
    assertThat(seen).containsExactly("page 7");
  }

  @Test
  void deletingAJobWithItsRunsInterruptsItsHandlers() {
    create("report", 2);
    CountDownLatch never = new CountDownLatch(1);
    try (JobWorker worker = worker("a").lease(Duration.ofSeconds(1)).handle("report", job -> {
      seen.add("begun");
      try {
        never.await();
      } finally {
        seen.add("lost " + job.isLost());
      }
      return JobResult.done();
    }).onError((what, failure) -> seen.add(what.replaceFirst(",.*", ""))).start()) {
      client.triggerJob("report", null);
      Await.until("both shards run", BOUND, () -> seen.size() == 2);
      client.deleteJob("report", true);
      Await.until("both are interrupted", BOUND, () -> seen.stream().filter("lost true"::equals).count() == 2);
      assertThat(worker).isNotNull();
    }
    assertThat(seen).contains("a lease was lost");
  }

  /** A class that declares a job by an annotation. */
  static final class Caches {
    private final CountDownLatch warmed = new CountDownLatch(2);

    @FoliotJob(name = "warm-cache", every = "200ms", scope = Scope.ALL, runAtStart = true)
    void warm() {
      warmed.countDown();
    }
  }

  @Test
  void aJobRunsOnTheWorkerThatDeclaresIt() throws InterruptedException {
    Caches caches = new Caches();
    try (JobWorker worker = worker("a").handlers(caches).start()) {
      assertThat(caches.warmed.await(BOUND.toSeconds(), TimeUnit.SECONDS)).as("runs at start and by schedule")
          .isTrue();
      assertThat(worker).isNotNull();
    }
    assertThat(client.getJob("warm-cache").json()).contains("\"scope\":\"all\"");
  }

  /** The numbers from 1 to 5, at most two per fetch. */
  private final class Numbers implements Dataflow<Long> {
    @Override
    public List<Long> fetch(JobContext job, @Nullable String checkpoint) {
      long from = checkpoint == null ? 0 : Long.parseLong(checkpoint);
      return LongStream.rangeClosed(from + 1, Math.min(5, from + 2)).boxed().toList();
    }

    @Override
    public String process(JobContext job, List<Long> items) {
      seen.add(items.toString());
      return items.getLast().toString();
    }
  }

  @Test
  void aStreamingDataflowRunsUntilNoItemIsLeft() {
    create("sync", 1);
    try (JobWorker worker = worker("a").dataflow("sync", new Numbers(), Dataflow.streaming()).start()) {
      client.triggerJob("sync", null);
      awaitTotal("sync", "succeeded");
      assertThat(worker).isNotNull();
    }
    assertThat(seen).containsExactly("[1, 2]", "[3, 4]", "[5]");
  }
}
