package io.foliot.load;

import io.foliot.api.Body;
import io.foliot.core.Submission;
import io.foliot.core.TaskRef;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TouchResult;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Postpones the deadlines of live keys through the Java API. */
final class TouchEngineScenario implements Scenario {
  private static final double SECONDS = 5;
  private static final int UNDER_WAY = 12;
  private static final double WANTED = 150_000;
  /** Distance between two checked keys of a part, in keys. */
  private static final int SAMPLE_EVERY = 97;
  private static final Duration LATER = Duration.ofHours(24);
  private static final String QUEUE = "bench-touch";

  @Override
  public String name() {
    return "touch-engine";
  }

  @Override
  public String about() {
    return "touches of 100,000 live keys, 1,000 a call, through the Java API";
  }

  @Override
  public String wanted() {
    return "150,000/s";
  }

  @Override
  public boolean isEmbedded() {
    return true;
  }

  /** The counts of all results, and the latest results of each part. Written by threads of the engine. */
  private static final class Answers {
    final AtomicLong reset = new AtomicLong();
    final AtomicLong other = new AtomicLong();
    // guarded by this
    private final Map<Integer, List<TouchResult>> last = new HashMap<>();

    void add(int part, List<TouchResult> results) {
      int resets = 0;
      for (TouchResult result : results) {
        resets += result.kind() == TouchResult.Kind.RESET ? 1 : 0;
      }
      reset.addAndGet(resets);
      other.addAndGet(results.size() - resets);
      synchronized (this) {
        last.put(part, results);
      }
    }

    synchronized Map<Integer, List<TouchResult>> last() {
      return Map.copyOf(last);
    }
  }

  @Override
  public Report run(Bench bench) {
    Path folder = bench.newFolder("engine");
    Duration time = bench.time(SECONDS);
    List<List<String>> parts = Keys.parts(bench.tasks(Keys.COUNT));
    Answers answers = new Answers();
    Report report = new Report();
    try (EmbeddedEngine engine = new EmbeddedEngine(folder)) {
      engine.pullQueue(QUEUE);
      create(engine, parts);
      touch(engine, parts, answers, time.dividedBy(3));
      long done = answers.reset.get();
      long processor = Machine.processorNanos();
      long begun = System.nanoTime();
      touch(engine, parts, answers, time.minus(time.dividedBy(3)));
      double seconds = (System.nanoTime() - begun) / 1e9;
      processor = Machine.processorNanos() - processor;
      done = answers.reset.get() - done;
      report.atLeast(WANTED, "durable touches", done / seconds, "/s")
          .figure("processor time per touch, caller included", processor / 1e3 / Math.max(1, done), "us")
          .checkNone("answers other than RESET", answers.other.get())
          .checkEqual("keys live at the end", parts.stream().mapToLong(List::size).sum(), engine.waiting(QUEUE));
      proveLast(report, engine, parts, answers);
    }
    Bench.delete(folder);
    return report.note("one thread touches, " + UNDER_WAY + " calls in flight");
  }

  private static void create(EmbeddedEngine engine, List<List<String>> parts) {
    EmbeddedEngine.Pipeline pipeline = new EmbeddedEngine.Pipeline(UNDER_WAY);
    Body body = new Body(TaskText.payloadBytes(), "application/json", Map.of());
    for (List<String> part : parts) {
      pipeline.call(() -> engine.scheduler().submitAll(part.stream()
          .map(key -> Submission.builder(QUEUE).key(key).delay(LATER).body(body).build()).toList()));
    }
    pipeline.drain();
  }

  private static void touch(EmbeddedEngine engine, List<List<String>> parts, Answers answers, Duration time) {
    EmbeddedEngine.Pipeline pipeline = new EmbeddedEngine.Pipeline(Math.min(UNDER_WAY, parts.size()));
    long end = System.nanoTime() + time.toNanos();
    for (int i = 0; System.nanoTime() - end < 0; i = (i + 1) % parts.size()) {
      int part = i;
      pipeline.call(() -> engine.scheduler().touch(QUEUE, parts.get(part), LATER)
          .thenAccept(results -> answers.add(part, results)));
    }
    pipeline.drain();
  }

  /** Checks a sample of keys: the store has the generation and deadline that the key's latest touch returned. */
  private static void proveLast(Report report, EmbeddedEngine engine, List<List<String>> parts, Answers answers) {
    int samples = 0;
    int same = 0;
    for (Map.Entry<Integer, List<TouchResult>> entry : answers.last().entrySet()) {
      for (int i = entry.getKey() % SAMPLE_EVERY; i < entry.getValue().size(); i += SAMPLE_EVERY) {
        String key = parts.get(entry.getKey()).get(i);
        TouchResult last = entry.getValue().get(i);
        Optional<TaskRecord> task = EmbeddedEngine.await(engine.scheduler().find(new TaskRef.ByKey(QUEUE, key)));
        samples++;
        same += task.isPresent() && task.get().generation() == last.generation() && task.get().dueAt() == last.dueAt()
            ? 1
            : 0;
      }
    }
    report.checkEqual("samples with the generation and the deadline of the last result", samples, same);
  }
}
