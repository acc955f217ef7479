package io.foliot.load;

import java.time.Duration;

/** Measures the latency of one client that submits one task at a time, in rounds that alternate with syncs. */
final class SubmitLatencyScenario implements Scenario {
  private static final double SECONDS = 6;
  private static final int ROUNDS = 5;
  private static final int WARM_UP_CONNECTIONS = 16;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Override
  public String name() {
    return "submit-latency";
  }

  @Override
  public String about() {
    return "one client, one task at a time";
  }

  @Override
  public String wanted() {
    return "p50 at most 1.5 syncs + 1 ms";
  }

  @Override
  public Report run(Bench bench) {
    Target target = bench.target();
    String queue = target.pullQueue("latency");
    Submits submits = new Submits(target, queue, 1, 0, null);
    Duration warmUp = bench.time(SECONDS).dividedBy(3);
    Duration round = bench.time(SECONDS).minus(warmUp).dividedBy(2L * ROUNDS);
    try (Load load = Load.open(target.address(), WARM_UP_CONNECTIONS)) {
      submits.run(load, warmUp, LIMIT);
    }
    submits.takeTookNanos();
    Samples syncs = new Samples();
    var folder = bench.newFolder("fsync");
    try (Load load = Load.open(target.address(), 1)) {
      for (int i = 0; i < ROUNDS; i++) {
        syncs.addAll(FsyncScenario.measure(folder, round));
        submits.run(load, round, LIMIT);
      }
    }
    Samples took = submits.takeTookNanos();
    double wanted = 1.5 * syncs.median() / 1e3 + 1_000;
    Report report = new Report().atMost(wanted, "p50", took.median() / 1e3, "us")
        .figure("p99", took.percentile(99) / 1e3, "us")
        .figure("fsync p50, measured in turns", syncs.median() / 1e3, "us")
        .figure("ratio of p50 to 1.5 fsync + 1 ms", took.median() / 1e3 / wanted, "");
    submits.proveAcknowledged(report).proveKept(report);
    return report;
  }
}
