package io.foliot.load;

import java.time.Duration;

/**
 * Very many tasks due in the same millisecond, and two queues that have some all the time: one that calls the same
 * destination, and one with its own.
 */
final class HerdScenario implements Scenario {
  private static final int TASKS = 100_000;
  private static final int BATCH = 1_000;
  private static final int CONNECTIONS = 4;
  private static final int QUIET_PER_SECOND = 100;
  /** Of the quiet queues: before the herd, and after it has been delivered on a slow machine. */
  private static final double QUIET_BEFORE_SECONDS = 3;
  private static final int QUIET_AFTER_SECONDS = 5;
  private static final int SLOWEST_HERD_PER_SECOND = 2_500;
  private static final double WANTED_QUIET_MILLIS = 100;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @Override
  public String name() {
    return "herd";
  }

  @Override
  public String about() {
    return "100,000 tasks due in the same millisecond";
  }

  @Override
  public String wanted() {
    return "other queues' tasks at most 100 ms late at p99 meanwhile";
  }

  @Override
  public boolean isLong() {
    return true;
  }

  @Override
  public Report run(Bench bench) {
    int tasks = bench.tasks(TASKS);
    Target target = bench.target();
    Report report = new Report();
    warmUp(bench, target, tasks, report);
    try (Receiver other = bench.newReceiver()) {
      Ledger herd = bench.receiver().ledger(tasks);
      long beforeMillis = bench.time(QUIET_BEFORE_SECONDS).toMillis();
      int quietTasks = (int) (QUIET_PER_SECOND * beforeMillis / 1_000)
          + QUIET_PER_SECOND * (QUIET_AFTER_SECONDS + tasks / SLOWEST_HERD_PER_SECOND);
      Ledger quiet = other.ledger(quietTasks);
      Ledger beside = bench.receiver().ledger(quietTasks);
      // Time enough to submit all of it on a machine that is busy.
      long leadMillis = beforeMillis + 2_000 + tasks / 10;
      long dueMillis = System.currentTimeMillis() + leadMillis;
      for (int i = 0; i < tasks; i++) {
        herd.due(i, dueMillis);
      }
      for (int i = 0; i < quietTasks; i++) {
        long at = dueMillis - beforeMillis + i * 1_000L / QUIET_PER_SECOND;
        quiet.due(i, at);
        beside.due(i, at);
      }
      Submits herds = new Submits(target, target.httpQueue("herd", bench.receiver().url(herd)), BATCH, 0,
          herd::dueMillis).untilNumber(tasks);
      Submits quiets = new Submits(target, target.httpQueue("quiet", other.url(quiet)), BATCH, 0, quiet::dueMillis)
          .untilNumber(quietTasks);
      Submits besides = new Submits(target, target.httpQueue("beside", bench.receiver().url(beside)), BATCH, 0,
          beside::dueMillis).untilNumber(quietTasks);
      submit(target, quiets, besides, herds);
      if (System.currentTimeMillis() > dueMillis - beforeMillis) {
        throw new BenchException("submitting took longer than " + leadMillis + " ms; use fewer with --tasks");
      }
      herd.await(tasks, bench.patience());
      quiet.await(quietTasks, bench.patience());
      beside.await(quietTasks, bench.patience());
      report(report, herd, quiet, beside, dueMillis);
      herds.proveAcknowledged(report);
      quiets.proveAcknowledged(report);
      besides.proveAcknowledged(report);
      herd.prove(report, "herd", herds.acknowledged());
      quiet.prove(report, "quiet queue with its own destination", quiets.acknowledged());
      beside.prove(report, "quiet queue of the same destination", besides.acknowledged());
      return report;
    }
  }

  /** Fires as many at once, for the compilers. */
  private static void warmUp(Bench bench, Target target, int tasks, Report report) {
    Ledger ledger = bench.receiver().ledger(tasks);
    long dueMillis = System.currentTimeMillis();
    for (int i = 0; i < tasks; i++) {
      ledger.due(i, dueMillis);
    }
    Submits submits = new Submits(target, target.httpQueue("warm-up", bench.receiver().url(ledger)), BATCH, 0,
        ledger::dueMillis).untilNumber(tasks);
    submit(target, submits);
    ledger.await(tasks, bench.patience());
    ledger.prove(report, "before the herd", submits.acknowledged());
  }

  private static void submit(Target target, Submits... all) {
    try (Load load = Load.open(target.address(), CONNECTIONS)) {
      for (Submits submits : all) {
        submits.run(load, null, LIMIT);
      }
    }
  }

  private static void report(Report report, Ledger herd, Ledger quiet, Ledger beside, long dueMillis) {
    long endMillis = herd.lastMicros() / 1_000;
    Samples late = herd.lateMicros();
    Samples quietBefore = quiet.lateMicros(Long.MIN_VALUE, dueMillis);
    Samples quietLate = quiet.lateMicros(dueMillis, endMillis);
    Samples besideLate = beside.lateMicros(dueMillis, endMillis);
    double seconds = Math.max(0.001, (endMillis - dueMillis) / 1e3);
    Samples quietLater = quiet.lateMicros(dueMillis + 1_000, Math.max(dueMillis + 1_000, endMillis));
    report.figure("herd, delivered", herd.delivered() / seconds, "/s")
        .figure("herd, p50 late", late.median() / 1e3, "ms").figure("herd, p99 late", late.percentile(99) / 1e3, "ms")
        .figure("herd, last", late.max() / 1e3, "ms")
        .figure("quiet queue before, p99 late", quietBefore.percentile(99) / 1e3, "ms")
        .atMost(WANTED_QUIET_MILLIS, "quiet queue with its own destination meanwhile, p99 late",
            quietLate.percentile(99) / 1e3, "ms")
        .figure("its p50", quietLate.median() / 1e3, "ms").figure("its max", quietLate.max() / 1e3, "ms")
        .figure("its p99 from a second after the herd was due on", quietLater.percentile(99) / 1e3, "ms")
        .figure("quiet queue of the same destination meanwhile, p99 late", besideLate.percentile(99) / 1e3, "ms")
        .note("meanwhile: " + quietLate.size() + " tasks of each quiet queue, due while the herd was delivered");
  }
}
