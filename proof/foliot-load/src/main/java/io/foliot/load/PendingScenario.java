package io.foliot.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures a server while the number of waiting tasks grows: submits by one client and by many clients, firing, the
 * heap, and the restart after a kill. Writes the curve as JSON, CSV and SVG.
 */
final class PendingScenario implements Scenario {
  private static final int TASKS = 10_000_000;
  /** Number of waiting tasks that the first fill aims for. */
  private static final int SMALLEST = 10_000;
  private static final int BATCH = 2_000;
  private static final int FILL_CONNECTIONS = 4;
  private static final double SECONDS = 4;
  /** Maximum number of tasks that a measurement fires. */
  private static final int FIRED = 10_000;
  /** Tasks that become overdue while the server is down. */
  private static final int OVERDUE = 100;
  private static final long FIRE_LEAD_MILLIS = 1_000;
  private static final long OVERDUE_LEAD_MILLIS = 1_500;
  private static final int SPREAD_DAYS = 30;
  private static final Duration LIMIT = Duration.ofMinutes(15);
  private static final long SEED = 42;
  private static final List<String> COLUMNS = List.of("pending", "submit p50 us", "submit p99 us", "fsync p50 us",
      "submits/s", "submit cpu us", "fired/s", "fire cpu us", "heap MiB", "resident MiB", "restart ms",
      "first overdue ms", "fill tasks/s", "folder MiB");

  @Override
  public String name() {
    return "pending";
  }

  @Override
  public String about() {
    return "submits, firing, heap, restart with 10^4 to 10^7 tasks waiting (--tasks for fewer); some ten minutes";
  }

  @Override
  public boolean isLong() {
    return true;
  }

  @Override
  public boolean killsItsServer() {
    return true;
  }

  /** The state of a run of this scenario. Used by one thread. */
  private static final class Run {
    final Bench bench;
    final Path data;
    final Report report = new Report();
    final Curve curve = new Curve(COLUMNS);
    final Random random = new Random(SEED);
    Target target;
    String fillQueue;
    final int fired;
    int pending;
    double fillRate;

    Run(Bench bench, int most) {
      this.bench = bench;
      fired = Math.clamp(most / 10, 1, FIRED);
      data = bench.newFolder("pending");
      target = bench.startServer(data, List.of());
      fillQueue = target.pullQueue("pending");
    }
  }

  @Override
  public Report run(Bench bench) {
    int most = bench.tasks(TASKS);
    Run run = new Run(bench, most);
    try {
      warmUp(run);
      measure(run);
      int size = Math.min(SMALLEST, most);
      fill(run, size);
      measure(run);
      while (size < most) {
        size = (int) Math.min(10L * size, most);
        fill(run, size);
        measure(run);
      }
    } finally {
      run.target.close();
      Bench.delete(run.data);
    }
    conclude(run);
    write(bench, run.curve);
    return run.report.curve(run.curve);
  }

  private static void warmUp(Run run) {
    Duration time = run.bench.time(SECONDS);
    String queue = run.target.pullQueue("warm-up");
    Submits submits = new Submits(run.target, queue, 1, 0, null);
    try (Load load = Load.open(run.target.address(), run.bench.plan().connections())) {
      submits.run(load, time, LIMIT);
    }
    run.pending += submits.acknowledged();
    fire(run, run.fired);
  }

  /** Submits tasks with due times spread over {@link #SPREAD_DAYS} days, until {@code size} tasks wait. */
  private static void fill(Run run, int size) {
    int missing = size - run.pending;
    if (missing <= 0) {
      return;
    }
    long fromMillis = System.currentTimeMillis() + TimeUnit.HOURS.toMillis(24);
    long spreadMillis = TimeUnit.DAYS.toMillis(SPREAD_DAYS);
    Submits submits = new Submits(run.target, run.fillQueue, BATCH, 0,
        number -> fromMillis + run.random.nextLong(spreadMillis)).untilNumber(missing);
    run.bench.progress("  filling up to " + size + " tasks");
    try (Load load = Load.open(run.target.address(), FILL_CONNECTIONS)) {
      long nanos = submits.run(load, null, LIMIT);
      run.fillRate = submits.acknowledged() / (nanos / 1e9);
    }
    submits.proveAcknowledged(run.report);
    run.pending += submits.acknowledged();
  }

  private static void measure(Run run) {
    run.bench.progress("  measuring with " + run.pending + " tasks waiting, load average " + Machine.loadText());
    double pending = run.pending;
    Duration time = run.bench.time(SECONDS);
    Samples syncs = FsyncScenario.measure(run.bench.folder(), time.dividedBy(4));
    String queue = run.target.pullQueue("one");
    Submits one = new Submits(run.target, queue, 1, 0, null);
    try (Load load = Load.open(run.target.address(), 1)) {
      one.run(load, time.dividedBy(4), LIMIT);
      one.takeTookNanos();
      one.run(load, time.dividedBy(2), LIMIT);
    }
    Samples took = one.takeTookNanos();
    Submits many = new Submits(run.target, run.target.pullQueue("many"), 1, 0, null);
    long processor = run.target.processorNanos();
    long nanos;
    try (Load load = Load.open(run.target.address(), run.bench.plan().connections())) {
      nanos = many.run(load, time, LIMIT);
    }
    processor = run.target.processorNanos() - processor;
    one.proveAcknowledged(run.report).proveKept(run.report);
    many.proveAcknowledged(run.report).proveKept(run.report);
    run.pending += one.acknowledged() + many.acknowledged();
    double[] fired = fire(run, run.fired);
    double heap = run.target.liveHeapBytes() / (1 << 20);
    double resident = run.target.child() == null ? 0 : Machine.residentBytes(run.target.child().pid()) / 1048576.0;
    double folder = Bench.size(run.data) / 1048576.0;
    double[] restarted = killAndRestart(run);
    run.curve.row(List.of(pending, took.median() / 1e3, took.percentile(99) / 1e3, syncs.median() / 1e3,
        many.acknowledged() / (nanos / 1e9), processor / 1e3 / Math.max(1, many.acknowledged()), fired[0], fired[1],
        heap, resident, restarted[0], restarted[1], run.fillRate, folder));
  }

  /**
   * Fires tasks that are all due at the same time. Returns the tasks fired per second, and the processor time per task
   * in microseconds.
   */
  private static double[] fire(Run run, int tasks) {
    Ledger ledger = run.bench.receiver().ledger(tasks);
    long dueMillis = System.currentTimeMillis() + FIRE_LEAD_MILLIS + tasks / 5;
    for (int i = 0; i < tasks; i++) {
      ledger.due(i, dueMillis);
    }
    Submits submits = new Submits(run.target, run.target.httpQueue("fire", run.bench.receiver().url(ledger)), BATCH, 0,
        ledger::dueMillis).untilNumber(tasks);
    try (Load load = Load.open(run.target.address(), FILL_CONNECTIONS)) {
      submits.run(load, null, LIMIT);
    }
    long processor = run.target.processorNanos();
    ledger.await(tasks, run.bench.patience());
    processor = run.target.processorNanos() - processor;
    submits.proveAcknowledged(run.report);
    ledger.prove(run.report, "fired with " + run.pending + " waiting", tasks);
    double seconds = Math.max(1, ledger.lastMicros() - dueMillis * 1_000) / 1e6;
    return new double[]{tasks / seconds, processor / 1e3 / tasks};
  }

  /**
   * Kills the server, waits until tasks are overdue, and starts the server again. Returns the milliseconds from the
   * start until the server was ready, and from then until the first overdue task arrived.
   */
  private static double[] killAndRestart(Run run) {
    Child before = run.target.child();
    if (before == null) {
      return new double[]{0, 0};
    }
    Ledger ledger = run.bench.receiver().ledger(OVERDUE);
    long dueMillis = System.currentTimeMillis() + OVERDUE_LEAD_MILLIS;
    for (int i = 0; i < OVERDUE; i++) {
      ledger.due(i, dueMillis);
    }
    Submits submits = new Submits(run.target, run.target.httpQueue("overdue", run.bench.receiver().url(ledger)),
        OVERDUE, 0, ledger::dueMillis).untilNumber(OVERDUE);
    try (Load load = Load.open(run.target.address(), 1)) {
      submits.run(load, null, LIMIT);
    }
    submits.proveAcknowledged(run.report);
    before.kill();
    long leftMillis = dueMillis - System.currentTimeMillis() + 500;
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.max(0, leftMillis)));
    run.report.checkNone("delivered before the kill", ledger.delivered());
    Target after = run.bench.startServer(run.data, List.of());
    run.target.client().close();
    run.target = after;
    Child child = after.child();
    long startMillis = child == null ? 0 : child.startNanos() / 1_000_000;
    long readyMillis = System.currentTimeMillis();
    ledger.await(OVERDUE, run.bench.patience());
    long firstMicros = Long.MAX_VALUE;
    for (int i = 0; i < OVERDUE; i++) {
      firstMicros = ledger.firstMicros(i) == 0 ? firstMicros : Math.min(firstMicros, ledger.firstMicros(i));
    }
    ledger.prove(run.report, "overdue after the restart", OVERDUE);
    run.report.checkEqual("waiting after the kill", run.pending, waiting(run));
    return new double[]{startMillis, Math.max(0, firstMicros / 1e3 - readyMillis)};
  }

  private static long waiting(Run run) {
    return run.target.client().listQueues().stream().mapToLong(queue -> queue.counts().getOrDefault("delayed", 0L))
        .sum();
  }

  /** Reports the last row of the curve. The figures of its submits are ratios to the figures of the first row. */
  private static void conclude(Run run) {
    List<List<Double>> rows = run.curve.rows();
    List<Double> empty = rows.getFirst();
    List<Double> full = rows.getLast();
    int p50 = COLUMNS.indexOf("submit p50 us");
    int rate = COLUMNS.indexOf("submits/s");
    run.report.figure("tasks waiting at the end", full.getFirst(), "")
        .atMost(1.3, "submit p50, ratio to the first row", full.get(p50) / empty.get(p50), "")
        .atLeast(0.5, "submits/s, ratio to the first row", full.get(rate) / empty.get(rate), "")
        .atMost(1_024, "heap after a collection", full.get(COLUMNS.indexOf("heap MiB")), "MiB")
        .atMost(5_000, "restart after a kill, until ready", full.get(COLUMNS.indexOf("restart ms")), "ms")
        .atMost(5_000, "first overdue callback after ready", full.get(COLUMNS.indexOf("first overdue ms")), "ms")
        .note("the server runs with -Xmx1g; the first row is measured with a nearly empty store")
        .note("tasks are due over " + SPREAD_DAYS + " days; tasks that a measurement submits wait in all later rows");
  }

  private static void write(Bench bench, Curve curve) {
    try {
      Path out = bench.plan().out();
      Files.createDirectories(out);
      Files.writeString(out.resolve("pending.csv"), curve.csv());
      Files.writeString(out.resolve("pending.json"), ReportJson.curve(curve));
      Files.writeString(out.resolve("pending.svg"), new Chart("Cost per task by tasks waiting", "tasks waiting",
          "microseconds").line("submit, one client, p50", curve.column("pending"), curve.column("submit p50 us"))
          .line("submit, processor time", curve.column("pending"), curve.column("submit cpu us"))
          .line("fire, processor time", curve.column("pending"), curve.column("fire cpu us")).svg());
      bench.progress("  wrote pending.csv, pending.json and pending.svg into " + out.toAbsolutePath().normalize());
    } catch (IOException e) {
      throw new BenchException("cannot write the curve; choose another folder with --out: " + e.getMessage(), e);
    }
  }
}
