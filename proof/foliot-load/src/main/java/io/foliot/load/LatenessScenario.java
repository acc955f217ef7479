package io.foliot.load;

import java.time.Duration;
import java.util.Random;

/** Measures how late a steady stream of tasks arrives. Each request submits one task, due one to two seconds later. */
final class LatenessScenario implements Scenario {
  private static final double SECONDS = 10;
  private static final int PER_SECOND = 1_000;
  private static final int CONNECTIONS = 16;
  private static final long AHEAD_MILLIS = 1_000;
  private static final int SPREAD_MILLIS = 1_000;
  /** Divisor of the measured time: the quotient is the length of the warm-up. */
  private static final int WARM_UP_DIVISOR = 2;
  private static final long SEED = 42;

  @Override
  public String name() {
    return "lateness";
  }

  @Override
  public String about() {
    return "1,000 tasks/s, submitted and called back";
  }

  @Override
  public String wanted() {
    return "p50 at most 2 ms late, p99 at most 10 ms, none early";
  }

  @Override
  public Report run(Bench bench) {
    Target target = bench.target();
    Duration time = bench.time(SECONDS);
    Duration warmUp = time.dividedBy(WARM_UP_DIVISOR);
    int tasks = (int) (warmUp.plus(time).toMillis() * PER_SECOND / 1_000);
    Ledger ledger = bench.receiver().ledger(tasks);
    String queue = target.httpQueue("lateness", bench.receiver().url(ledger));
    Random random = new Random(SEED);
    Submits submits = new Submits(target, queue, 1, 0, number -> {
      ledger.due(number, System.currentTimeMillis() + AHEAD_MILLIS + random.nextInt(SPREAD_MILLIS));
      return ledger.dueMillis(number);
    }).untilNumber(tasks).atRate(PER_SECOND);
    long begunMillis = System.currentTimeMillis();
    long processor = target.processorNanos();
    try (Load load = Load.open(target.address(), CONNECTIONS)) {
      submits.run(load, null, warmUp.plus(time).plusSeconds(60));
    }
    ledger.await(tasks, bench.patience());
    processor = target.processorNanos() - processor;
    double seconds = (System.currentTimeMillis() - begunMillis) / 1e3;
    Samples late = ledger.lateMicros(begunMillis + warmUp.toMillis() + AHEAD_MILLIS, Long.MAX_VALUE);
    Report report = new Report().atMost(2, "p50", late.median() / 1e3, "ms")
        .atMost(10, "p99", late.percentile(99) / 1e3, "ms").figure("p99.9", late.percentile(99.9) / 1e3, "ms")
        .figure("max", late.max() / 1e3, "ms").figure("min", late.min() / 1e3, "ms")
        .figure("processors that the server uses", processor / 1e9 / seconds, "");
    submits.proveAcknowledged(report);
    ledger.prove(report, "tasks", submits.acknowledged());
    return report.note("lateness is by the receiver's clock when the request is read; figures of " + late.size()
        + " tasks after a warm-up of " + warmUp.toMillis() / 1e3 + " s");
  }
}
