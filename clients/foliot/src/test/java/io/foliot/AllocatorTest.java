package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Job;
import io.foliot.backends.Await;
import io.foliot.client.JobResult;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.ShardAllocator;
import io.foliot.jobs.ShardAllocator.Worker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests an allocator of the application, which assigns the shards of a run to workers. */
final class AllocatorTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final Set<Object> seen = ConcurrentHashMap.newKeySet();

  @TempDir
  private Path folder;

  /** Returns for each shard the worker whose name is the shard's parameter. */
  static List<Worker> byParameter(Job job, List<Worker> workers) {
    return IntStream.range(0, job.shards()).mapToObj(shard -> named(workers, job.shardParameter(shard))).toList();
  }

  private static Worker named(List<Worker> workers, @Nullable String name) {
    return workers.stream().filter(worker -> worker.isNamed(name)).findFirst().orElseThrow();
  }

  private void startWorker(Foliot foliot, String name) {
    foliot.workers().of("billing").name(name).handle("report", job -> {
      seen.add(job.shardParameter() + " on " + name);
      return JobResult.done();
    }).start();
  }

  private static String waitsFor(Foliot foliot) {
    return foliot.jobs().find("report").orElseThrow().waitsFor();
  }

  private static Job.Builder report() {
    return Job.named("report").queue("billing").every(SECOND).allocator("by-parameter");
  }

  @Test
  void eachShardRunsOnTheWorkerThatTheAllocatorReturns() {
    try (Foliot foliot = Foliot.builder().allocator("by-parameter", AllocatorTest::byParameter).inMemory()) {
      List.of("w0", "w1", "w2").forEach(name -> startWorker(foliot, name));
      // No run begins until each worker named in a parameter is live.
      foliot.jobs().put(report().shards(4, "w2", "w0", "w2", "w1"));
      Await.until("each worker has run its shards", BOUND,
          () -> seen.containsAll(Set.of("w0 on w0", "w1 on w1", "w2 on w2")));
    }
  }

  @Test
  void aNodeWithAHandlerIsAWorkerUnderItsNameAndZone() {
    try (Foliot foliot = Foliot.builder().node("n1").zone("fra1").allocator("spy", (job, workers) -> {
      seen.addAll(workers);
      return Collections.nCopies(job.shards(), workers.getFirst());
    }).inMemory()) {
      foliot.tasks("handled", String.class).handle((text, attempt) -> seen.add("handled"));
      foliot.jobs().put(Job.named("report").queue("handled").every(SECOND).shards(2).allocator("spy"));
      Await.until("the shards are handled", BOUND, () -> seen.contains("handled"));
    }
    assertThat(seen).containsExactlyInAnyOrder(new Worker("n1", "fra1"), "handled");
  }

  @Test
  @SuppressWarnings("NullAway") // An application without null checks may return null.
  void aRunWaitsWhileTheAllocationIsWrong() {
    Map<String, ShardAllocator> wrong = new LinkedHashMap<>();
    wrong.put("failed: java.lang.IllegalStateException: boom", (job, workers) -> {
      throw new IllegalStateException("boom");
    });
    wrong.put("returned null", (job, workers) -> null);
    wrong.put("returned 1 workers for 2 shards", (job, workers) -> workers);
    wrong.put("gave shard 0 to a worker that was not offered, Worker[name=w9, zone=]",
        (job, workers) -> Collections.nCopies(2, new Worker("w9", "")));
    AtomicReference<ShardAllocator> current = new AtomicReference<>((job, workers) -> List.of());
    try (Foliot foliot = Foliot.builder()
        .allocator("by-parameter", (job, workers) -> current.get().allocate(job, workers)).inMemory()) {
      startWorker(foliot, "w0");
      foliot.jobs().put(report().shards(2, "w0", "w0"));
      wrong.forEach((reason, allocator) -> {
        current.set(allocator);
        Await.until("the job waits, because its allocator " + reason, BOUND,
            () -> waitsFor(foliot).equals("waits for its allocator, which " + reason + ": allocator=by-parameter"));
      });
      Await.until("scheduled times are skipped meanwhile", BOUND,
          () -> foliot.jobs().find("report").orElseThrow().totals().skipped() > 2);
      JobStatus waits = foliot.jobs().find("report").orElseThrow();
      assertThat(waits.waiting()).isEqualTo(1);
      assertThat(waits.totals().fired()).as("no other allocation replaces the allocator").isZero();
      assertThat(seen).isEmpty();
      current.set(AllocatorTest::byParameter);
      Await.until("the run begins", BOUND, () -> seen.contains("w0 on w0"));
    }
  }

  @Test
  void aRunWaitsForANodeWithTheAllocator() {
    String missing = " its allocator, which this node does not have; each node of the store must register it:"
        + " allocator=by-parameter";
    try (Foliot foliot = Foliot.builder().node("w0").open(folder)) {
      foliot.workers().of("billing").declare(Job.named("report").every(SECOND).shards(2, "w0", "w0")
          .allocator("by-parameter")).handle("report", job -> JobResult.giveUp("not allocated")).start();
      Await.until("one run waits, and later scheduled times are skipped", BOUND, () -> foliot.jobs().find("report")
          .filter(job -> job.waiting() == 1 && job.totals().skipped() > 1).isPresent());
      assertThat(waitsFor(foliot)).isEqualTo("waits for" + missing);
      assertThat(foliot.jobs().find("report").orElseThrow().totals().fired()).isZero();
    }
    try (Foliot foliot = Foliot.builder().node("w0").allocator("by-parameter", AllocatorTest::byParameter)
        .open(folder)) {
      startWorker(foliot, "w0");
      Await.until("the run begins", BOUND, () -> seen.contains("w0 on w0"));
    }
  }

  @Test
  void theNameOfAnAllocatorIsValidAndUnique() {
    FoliotBuilder builder = Foliot.builder().allocator("by-region", AllocatorTest::byParameter);
    assertThatThrownBy(() -> builder.allocator("by-region", AllocatorTest::byParameter))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the name has an allocator already: allocator=by-region");
    List<String> wrong = List.of("", "by region", "a/b", "x".repeat(65));
    wrong.forEach(name -> assertThatThrownBy(() -> builder.allocator(name, AllocatorTest::byParameter))
        .hasMessage("allocator: expected 1 to 64 of A-Z a-z 0-9 . _ -, but got \"" + name + '"'));
    try (Foliot foliot = builder.inMemory()) {
      assertThatThrownBy(() -> foliot.jobs().put(Job.named("report").queue("q").every(SECOND).allocator("a b")))
          .hasMessageContaining("allocator: expected the name of an allocator");
    }
  }
}
