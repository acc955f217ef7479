package io.foliot.load;

import java.time.Duration;

/**
 * Measures very many tasks that are due in the same millisecond (the herd), and their effect on two quiet queues. The
 * tasks of a quiet queue are due at a steady rate. One quiet queue shares the destination of the herd, and the other
 * has a destination of its own.
 */
final class HerdScenario implements Scenario {
  private static final int TASKS = 100_000;
  private static final int BATCH = 1_000;
  private static final int CONNECTIONS = 4;
  /** Tasks of each quiet queue per second. */
  private static final int QUIET_PER_SECOND = 100;
  /** Length of the period of quiet tasks that ends when the herd is due. */
  private static final double QUIET_BEFORE_SECONDS = 3;
  /** Length of the period of quiet tasks that begins after the longest expected delivery of the herd. */
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
    return "tasks of other queues at most 100 ms late at p99 during the herd";
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
      Ledger shared = bench.receiver().ledger(quietTasks);
      // The submits must end before the first quiet task is due, even on a busy machine.
      long leadMillis = beforeMillis + 2_000 + tasks / 10;
      long dueMillis = System.currentTimeMillis() + leadMillis;
      for (int i = 0; i < tasks; i++) {
        herd.due(i, dueMillis);
      }
      for (int i = 0; i < quietTasks; i++) {
        long at = dueMillis - beforeMillis + i * 1_000L / QUIET_PER_SECOND;
        quiet.due(i, at);
        shared.due(i, at);
      }
      Submits herdSubmits = new Submits(target, target.httpQueue("herd", bench.receiver().url(herd)), BATCH, 0,
          herd::dueMillis).untilNumber(tasks);
      Submits quietSubmits = new Submits(target, target.httpQueue("quiet", other.url(quiet)), BATCH, 0,
          quiet::dueMillis).untilNumber(quietTasks);
      Submits sharedSubmits = new Submits(target, target.httpQueue("shared", bench.receiver().url(shared)), BATCH, 0,
          shared::dueMillis).untilNumber(quietTasks);
      submit(target, quietSubmits, sharedSubmits, herdSubmits);
      if (System.currentTimeMillis() > dueMillis - beforeMillis) {
        throw new BenchException("the submits took longer than " + leadMillis + " ms; choose fewer tasks with --tasks");
      }
      herd.await(tasks, bench.patience());
      quiet.await(quietTasks, bench.patience());
      shared.await(quietTasks, bench.patience());
      report(report, herd, quiet, shared, dueMillis);
      herdSubmits.proveAcknowledged(report);
      quietSubmits.proveAcknowledged(report);
      sharedSubmits.proveAcknowledged(report);
      herd.prove(report, "herd", herdSubmits.acknowledged());
      quiet.prove(report, "quiet queue with its own destination", quietSubmits.acknowledged());
      shared.prove(report, "quiet queue of the same destination", sharedSubmits.acknowledged());
      return report;
    }
  }

  /** Fires as many tasks as the herd has, all due now, to warm up the JIT compilers. */
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

  private static void report(Report report, Ledger herd, Ledger quiet, Ledger shared, long dueMillis) {
    long endMillis = herd.lastMicros() / 1_000;
    Samples late = herd.lateMicros();
    Samples quietBefore = quiet.lateMicros(Long.MIN_VALUE, dueMillis);
    Samples quietLate = quiet.lateMicros(dueMillis, endMillis);
    Samples sharedLate = shared.lateMicros(dueMillis, endMillis);
    double seconds = Math.max(0.001, (endMillis - dueMillis) / 1e3);
    Samples quietLater = quiet.lateMicros(dueMillis + 1_000, Math.max(dueMillis + 1_000, endMillis));
    report.figure("herd, delivered", herd.delivered() / seconds, "/s")
        .figure("herd, p50 late", late.median() / 1e3, "ms").figure("herd, p99 late", late.percentile(99) / 1e3, "ms")
        .figure("herd, last", late.max() / 1e3, "ms")
        .figure("quiet queue before, p99 late", quietBefore.percentile(99) / 1e3, "ms")
        .atMost(WANTED_QUIET_MILLIS, "quiet queue with its own destination meanwhile, p99 late",
            quietLate.percentile(99) / 1e3, "ms")
        .figure("the same queue meanwhile, p50 late", quietLate.median() / 1e3, "ms")
        .figure("the same queue meanwhile, max late", quietLate.max() / 1e3, "ms")
        .figure("the same queue, p99 late, without the first second", quietLater.percentile(99) / 1e3, "ms")
        .figure("quiet queue of the same destination meanwhile, p99 late", sharedLate.percentile(99) / 1e3, "ms")
        .note("meanwhile: while the herd was delivered; " + quietLate.size() + " tasks of each quiet queue were due");
  }
}
