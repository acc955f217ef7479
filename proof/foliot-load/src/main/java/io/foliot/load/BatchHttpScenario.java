package io.foliot.load;

import java.time.Duration;

/** Submits batches over HTTP. */
final class BatchHttpScenario implements Scenario {
  private static final double SECONDS = 6;
  private static final int BATCH = 1_000;
  private static final int CONNECTIONS = 4;
  private static final double WANTED = 50_000;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Override
  public String name() {
    return "batch-http";
  }

  @Override
  public String about() {
    return "1,000 tasks a request over 4 connections";
  }

  @Override
  public String wanted() {
    return "50,000 tasks/s";
  }

  @Override
  public Report run(Bench bench) {
    Target target = bench.target();
    String queue = target.pullQueue("batch");
    Submits submits = new Submits(target, queue, BATCH, 0, null);
    Duration time = bench.time(SECONDS);
    long nanos;
    int before;
    long processorNanos;
    try (Load load = Load.open(target.address(), CONNECTIONS)) {
      submits.run(load, time.dividedBy(3), LIMIT);
      submits.takeTookNanos();
      before = submits.acknowledged();
      processorNanos = target.processorNanos();
      nanos = submits.run(load, time.minus(time.dividedBy(3)), LIMIT);
      processorNanos = target.processorNanos() - processorNanos;
    }
    int done = submits.acknowledged() - before;
    Samples took = submits.takeTookNanos();
    Report report = new Report().atLeast(WANTED, "tasks", done / (nanos / 1e9), "/s")
        .figure("p50 of a request", took.median() / 1e6, "ms")
        .figure("p99 of a request", took.percentile(99) / 1e6, "ms")
        .figure("processor time of the server per task", processorNanos / 1e3 / Math.max(1, done), "us");
    submits.proveAcknowledged(report).proveKept(report);
    return report;
  }
}
