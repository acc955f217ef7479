package io.foliot.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.foliot.client.BatchResult;
import io.foliot.client.NewTask;
import io.foliot.client.SubmittedTask;
import io.foliot.client.TaskView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Postpones the deadlines of live keys over HTTP. */
final class TouchHttpScenario implements Scenario {
  private static final double SECONDS = 5;
  private static final int CONNECTIONS = 4;
  private static final double WANTED = 80_000;
  private static final Duration LATER = Duration.ofHours(24);
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String QUEUE = "touch";

  @Override
  public String name() {
    return "touch-http";
  }

  @Override
  public String about() {
    return "touches of 100,000 live keys, 1,000 a request over 4 connections";
  }

  @Override
  public String wanted() {
    return "80,000/s";
  }

  /** Touches all parts in turn, again and again, for a time. */
  private static final class Touches implements Load.Work {
    private static final byte[] RESET = "\"result\":\"RESET\"".getBytes(US_ASCII);
    private static final int DONE = 200;

    private final List<byte[]> requests;
    private final List<List<String>> parts;
    /** Lower bound of the time of each part's latest touch, in ms since 1970; 0 if the part was not touched. */
    final long[] touchedMillis;
    private long endNanos;
    private int next;
    long reset;
    long requested;
    Samples tookNanos = new Samples();

    Touches(Target target, String queue, List<List<String>> parts) {
      this.parts = parts;
      requests = parts.stream().map(part -> request(target, queue, part)).toList();
      touchedMillis = new long[parts.size()];
    }

    private static byte[] request(Target target, String queue, List<String> part) {
      byte[] body = ("{\"keys\":[\"" + String.join("\",\"", part) + "\"]," + TaskText.LATER + "}").getBytes(US_ASCII);
      Target.Blank blank = target.blank("/v1/queues/" + queue + "/keys:touch", "application/json", body.length);
      System.arraycopy(body, 0, blank.bytes(), blank.bodyAt(), body.length);
      return blank.bytes();
    }

    long run(Load load, Duration time) {
      endNanos = System.nanoTime() + time.toNanos();
      return load.run(this, LIMIT.plus(time));
    }

    @Override
    public long waitNanos(long nowNanos) {
      return nowNanos - endNanos >= 0 ? NEVER : 0;
    }

    @Override
    public Load.Request next() {
      int part = next;
      next = (next + 1) % requests.size();
      requested += parts.get(part).size();
      return new Load.Request(requests.get(part), part);
    }

    @Override
    public void answered(Load.Request request, Load.Answer answer) {
      tookNanos.add(answer.tookNanos());
      touchedMillis[request.number()] = System.currentTimeMillis() - answer.tookNanos() / 1_000_000 - 1;
      if (answer.status() == DONE) {
        reset += HttpText.count(answer.bytes(), answer.bodyFrom(), answer.bodyTo(), RESET);
      }
    }
  }

  @Override
  public Report run(Bench bench) {
    Target target = bench.target();
    String queue = target.pullQueue(QUEUE);
    List<List<String>> parts = Keys.parts(bench.tasks(Keys.COUNT));
    Report report = new Report();
    create(target, queue, parts, report);
    Touches touches = new Touches(target, queue, parts);
    Duration time = bench.time(SECONDS);
    long nanos;
    long before;
    long processorNanos;
    try (Load load = Load.open(target.address(), Math.min(CONNECTIONS, parts.size()))) {
      touches.run(load, time.dividedBy(3));
      touches.tookNanos = new Samples();
      before = touches.reset;
      processorNanos = target.processorNanos();
      nanos = touches.run(load, time.minus(time.dividedBy(3)));
      processorNanos = target.processorNanos() - processorNanos;
    }
    long done = touches.reset - before;
    report.atLeast(WANTED, "touches", done / (nanos / 1e9), "/s")
        .figure("p50 of a request", touches.tookNanos.median() / 1e6, "ms")
        .figure("p99 of a request", touches.tookNanos.percentile(99) / 1e6, "ms")
        .figure("processor time of the server per touch", processorNanos / 1e3 / Math.max(1, done), "us")
        .checkEqual("answered RESET", touches.requested, touches.reset);
    proveLast(target, queue, parts, touches, report);
    return report;
  }

  private static void create(Target target, String queue, List<List<String>> parts, Report report) {
    long created = 0;
    for (List<String> part : parts) {
      List<NewTask> tasks = new ArrayList<>(part.size());
      for (String key : part) {
        tasks.add(NewTask.builder().delay(LATER).key(key).build());
      }
      for (BatchResult result : target.client().submitBatch(queue, tasks)) {
        created += result instanceof SubmittedTask ? 1 : 0;
      }
    }
    report.checkEqual("keys created", parts.stream().mapToLong(List::size).sum(), created);
  }

  /** Checks one key of each part: its deadline is not earlier than the latest touch implies. */
  private static void proveLast(Target target, String queue, List<List<String>> parts, Touches touches,
      Report report) {
    int samples = 0;
    int postponed = 0;
    for (int i = 0; i < parts.size(); i++) {
      if (touches.touchedMillis[i] > 0) {
        TaskView task = target.client().getByKey(queue, parts.get(i).get(i % parts.get(i).size()));
        samples++;
        postponed += task.dueAt().isBefore(Instant.ofEpochMilli(touches.touchedMillis[i]).plus(LATER)) ? 0 : 1;
      }
    }
    report.checkEqual("samples with the deadline of the last touch", samples, postponed);
  }
}
