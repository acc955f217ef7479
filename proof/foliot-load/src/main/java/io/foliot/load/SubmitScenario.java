package io.foliot.load;

import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * Measures submits of one task per request over many connections, alternating with requests to the same web server
 * with an empty handler ({@link EmptyServer}).
 */
final class SubmitScenario implements Scenario {
  private static final double SECONDS = 15;
  private static final int ROUNDS = 3;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Override
  public String name() {
    return "submit";
  }

  @Override
  public String about() {
    return "one task per request over 64 connections by default";
  }

  @Override
  public String wanted() {
    return "at least half the rate of the same web server with an empty handler";
  }

  @Override
  public Report run(Bench bench) {
    Target target = bench.target();
    String queue = target.pullQueue("submit");
    Submits submits = new Submits(target, queue, 1, 0, null);
    int connections = bench.plan().connections();
    Duration time = bench.time(SECONDS);
    Duration round = time.dividedBy(4L * ROUNDS);
    Samples rates = new Samples();
    Samples emptyRates = new Samples();
    Samples took = new Samples();
    long processorNanos = 0;
    int counted = 0;
    try (Child empty = bench.startBeside(EmptyServer.class, List.of(), EmptyServer.READY)) {
      URI url = URI.create(empty.readyText());
      Target emptyTarget = new Target(url, "", null);
      Submits emptySubmits = new Submits(emptyTarget, queue, 1, 0, null);
      try (Load load = Load.open(target.address(), connections);
          Load emptyLoad = Load.open(new InetSocketAddress(url.getHost(), url.getPort()), connections)) {
        // About half of the time warms up the JIT compilers.
        emptySubmits.run(emptyLoad, time.dividedBy(5), LIMIT);
        submits.run(load, time.dividedBy(3), LIMIT);
        submits.takeTookNanos();
        for (int i = 0; i < ROUNDS; i++) {
          int emptyBefore = emptySubmits.acknowledged();
          long emptyNanos = emptySubmits.run(emptyLoad, round, LIMIT);
          int before = submits.acknowledged();
          long processorBefore = target.processorNanos();
          long nanos = submits.run(load, round, LIMIT);
          int done = submits.acknowledged() - before;
          emptyRates.add(Math.round((emptySubmits.acknowledged() - emptyBefore) / (emptyNanos / 1e9)));
          rates.add(Math.round(done / (nanos / 1e9)));
          took.addAll(submits.takeTookNanos());
          processorNanos += target.processorNanos() - processorBefore;
          counted += done;
        }
      }
      emptyTarget.client().close();
    }
    double ratio = rates.median() / Math.max(1, emptyRates.median());
    Report report = new Report().figure("submits", rates.median(), "/s").figure("p50", took.median() / 1e3, "us")
        .figure("p99", took.percentile(99) / 1e3, "us")
        .figure("the same web server with an empty handler", emptyRates.median(), "/s")
        .atLeast(0.5, "ratio of submits to requests with an empty handler", ratio, "")
        .figure("processor time of the server per submit", processorNanos / 1e3 / Math.max(1, counted), "us");
    submits.proveAcknowledged(report).proveKept(report);
    return report.note(connections + " connections; medians of " + ROUNDS + " alternating rounds");
  }
}
