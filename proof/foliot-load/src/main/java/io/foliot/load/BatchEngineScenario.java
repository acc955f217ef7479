package io.foliot.load;

import io.foliot.api.Body;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.store.rocksdb.StoreStats;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Submits batches through the Java API to an engine in this process. Then opens the store's folder again and checks
 * that all tasks are there.
 */
final class BatchEngineScenario implements Scenario {
  private static final double SECONDS = 6;
  private static final int BATCH = 1_000;
  private static final int UNDER_WAY = 12;
  private static final double WANTED = 100_000;
  /** A prime: the place of the sample therefore differs from batch to batch. */
  private static final int SAMPLE_PRIME = 997;
  private static final Duration LATER = Duration.ofHours(24);
  private static final String QUEUE = "bench-batch";

  @Override
  public String name() {
    return "batch-engine";
  }

  @Override
  public String about() {
    return "batches of 1,000 tasks through the Java API";
  }

  @Override
  public String wanted() {
    return "100,000 durable tasks/s";
  }

  @Override
  public boolean isEmbedded() {
    return true;
  }

  /** Counts of the acknowledged tasks, and the id of one task of each batch. Written by threads of the engine. */
  private static final class Acks {
    final AtomicLong created = new AtomicLong();
    final AtomicLong other = new AtomicLong();
    final ConcurrentLinkedQueue<TaskId> samples = new ConcurrentLinkedQueue<>();

    void add(List<SubmitResult> results) {
      int newTasks = 0;
      for (SubmitResult result : results) {
        newTasks += result.kind() == SubmitResult.Kind.CREATED ? 1 : 0;
      }
      created.addAndGet(newTasks);
      other.addAndGet(results.size() - newTasks);
      samples.add(results.get((int) (created.get() % SAMPLE_PRIME % results.size())).id());
    }
  }

  @Override
  public Report run(Bench bench) {
    Path folder = bench.newFolder("engine");
    Duration time = bench.time(SECONDS);
    Acks acks = new Acks();
    Report report = new Report();
    try (EmbeddedEngine engine = new EmbeddedEngine(folder)) {
      engine.pullQueue(QUEUE);
      submit(engine, acks, time.dividedBy(3));
      StoreStats before = engine.stats();
      long done = acks.created.get();
      long processor = Machine.processorNanos();
      long begun = System.nanoTime();
      submit(engine, acks, time.minus(time.dividedBy(3)));
      double seconds = (System.nanoTime() - begun) / 1e9;
      done = acks.created.get() - done;
      processor = Machine.processorNanos() - processor;
      StoreStats after = engine.stats();
      report.atLeast(WANTED, "durable tasks", done / seconds, "/s")
          .figure("tasks per sync", (double) (after.items() - before.items())
              / Math.max(1, after.commits() - before.commits()), "")
          .figure("processor time per task, caller included", processor / 1e3 / Math.max(1, done), "us");
      report.checkNone("answers other than CREATED", acks.other.get())
          .checkEqual("waiting in the engine", acks.created.get(), engine.waiting(QUEUE));
    }
    try (EmbeddedEngine again = new EmbeddedEngine(folder)) {
      report.checkEqual("waiting after the folder was opened again", acks.created.get(), again.waiting(QUEUE))
          .checkEqual("samples found by id in that folder", acks.samples.size(), found(again, acks.samples));
    }
    Bench.delete(folder);
    return report.note("one thread submits, " + UNDER_WAY + " batches in flight");
  }

  private static long found(EmbeddedEngine engine, Iterable<TaskId> ids) {
    long found = 0;
    for (TaskId id : ids) {
      Optional<TaskRecord> task = EmbeddedEngine.await(engine.scheduler().find(new TaskRef.ById(id)));
      found += task.isPresent() && task.get().body().payload().length == TaskText.PAYLOAD_BYTES ? 1 : 0;
    }
    return found;
  }

  private static void submit(EmbeddedEngine engine, Acks acks, Duration time) {
    EmbeddedEngine.Pipeline pipeline = new EmbeddedEngine.Pipeline(UNDER_WAY);
    byte[] payload = TaskText.payloadBytes();
    long end = System.nanoTime() + time.toNanos();
    int number = 0;
    while (System.nanoTime() - end < 0) {
      List<Submission> batch = new ArrayList<>(BATCH);
      for (int i = 0; i < BATCH; i++) {
        byte[] numbered = payload.clone();
        TaskText.number(numbered, 0, number++);
        batch.add(Submission.after(QUEUE, LATER, new Body(numbered, "application/json", Map.of())));
      }
      pipeline.call(() -> engine.scheduler().submitAll(batch).thenAccept(acks::add));
    }
    pipeline.drain();
  }
}
