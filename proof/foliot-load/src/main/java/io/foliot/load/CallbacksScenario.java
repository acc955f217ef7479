package io.foliot.load;

import java.time.Duration;
import java.util.List;

/**
 * Measures callbacks of tasks that are all due at the same instant. Each round measures three callers of the same
 * receiver: the bare HTTP client, then Foliot's delivery without an engine, and then Foliot. The measurement of Foliot
 * begins at the due instant of the tasks and ends with the last arrival.
 */
final class CallbacksScenario implements Scenario {
  /** Tasks of a round: as many as fit into a queue's lane, so that none is parked. */
  private static final int TASKS = 20_000;
  private static final int ROUNDS = 3;
  private static final int BATCH = 1_000;
  private static final int CONNECTIONS = 4;
  /** Rounds that are not measured. They warm up the JIT compilers, and let the limit of the destination grow. */
  private static final int WARM_UP_ROUNDS = 6;
  /** Fixed part of the time from the first submit of a round to its due instant. */
  private static final long LEAD_MILLIS = 400;
  /** Submit rate that a busy machine reaches, in tasks per millisecond. */
  private static final int LEAD_TASKS_PER_MILLI = 15;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Override
  public String name() {
    return "callbacks";
  }

  @Override
  public String about() {
    return "callbacks of due tasks";
  }

  @Override
  public String wanted() {
    return "half of the rate of the same HTTP client without Foliot";
  }

  /** The results of one kind of call: for each round, the calls per second and the processor time per call. */
  private static final class Results {
    final Samples rates = new Samples();
    final Samples processorNanos = new Samples();

    void add(int calls, long nanos, long processor) {
      rates.add(Math.round(calls / (nanos / 1e9)));
      processorNanos.add(processor / calls);
    }
  }

  @Override
  public Report run(Bench bench) {
    Target target = bench.target();
    int tasks = bench.tasks(TASKS);
    int all = tasks * (WARM_UP_ROUNDS + ROUNDS);
    Receiver receiver = bench.receiver();
    Ledger ledger = receiver.ledger(all);
    Ledger bareLedger = receiver.ledger(all);
    Ledger deliveryLedger = receiver.ledger(all);
    String queue = target.httpQueue("callbacks", receiver.url(ledger));
    Results foliot = new Results();
    Results bare = new Results();
    Results delivery = new Results();
    Report report = new Report();
    int acknowledged = 0;
    try (Child bareCaller = bench.startBeside(BareCaller.class, List.of(receiver.url(bareLedger)), BareCaller.READY);
        Child deliverer = bench.startBeside(BareCaller.class, List.of(receiver.url(deliveryLedger)),
            BareCaller.READY);
        Load load = Load.open(target.address(), CONNECTIONS)) {
      boolean complete = true;
      for (int i = 0; complete && i < WARM_UP_ROUNDS + ROUNDS; i++) {
        boolean counts = i >= WARM_UP_ROUNDS;
        Results discarded = new Results();
        int first = i * tasks;
        complete = call(bench, bareCaller, "bare", bareLedger, first, counts ? bare : discarded)
            && call(bench, deliverer, "delivery", deliveryLedger, first, counts ? delivery : discarded);
        Submits submits = new Submits(target, queue, Math.min(BATCH, tasks), first, ledger::dueMillis)
            .untilNumber(tasks);
        complete &= fire(bench, load, submits, ledger, first, counts ? foliot : discarded);
        submits.proveAcknowledged(report);
        acknowledged += submits.acknowledged();
      }
    }
    double ratio = foliot.rates.median() / Math.max(1, bare.rates.median());
    report.figure("callbacks", foliot.rates.median(), "/s")
        .figure("the same HTTP client, bare", bare.rates.median(), "/s")
        .figure("Foliot's delivery, without engine and store", delivery.rates.median(), "/s")
        .atLeast(0.5, "ratio of callbacks to calls of the bare client", ratio, "")
        .figure("processor time per callback", foliot.processorNanos.median() / 1e3, "us")
        .figure("processor time per call of the bare client", bare.processorNanos.median() / 1e3, "us")
        .figure("processor time per call of Foliot's delivery", delivery.processorNanos.median() / 1e3, "us");
    ledger.prove(report, "callbacks", acknowledged);
    report.checkEqual("calls of the bare client", all, bareLedger.delivered())
        .checkEqual("calls of the delivery", all, deliveryLedger.delivered())
        .checkEqual("finished on the server", acknowledged, target.awaitCount(queue, "finished", acknowledged));
    return report
        .note("medians of " + foliot.rates.size() + " rounds of " + tasks + " tasks after " + WARM_UP_ROUNDS
            + " warm-up rounds; callbacks from the due instant of all tasks to the last arrival");
  }

  /** Measures callbacks of one round. Returns whether all callbacks arrived. */
  private static boolean fire(Bench bench, Load load, Submits submits, Ledger ledger, int first, Results results) {
    int tasks = bench.tasks(TASKS);
    long dueMillis = System.currentTimeMillis() + LEAD_MILLIS + tasks / LEAD_TASKS_PER_MILLI;
    for (int i = first; i < first + tasks; i++) {
      ledger.due(i, dueMillis);
    }
    submits.run(load, null, LIMIT);
    boolean inTime = System.currentTimeMillis() < dueMillis;
    long processor = bench.target().processorNanos();
    boolean complete = ledger.await(first + tasks, bench.patience());
    // A round is left out if its submits ended after the due instant: its time would include a part of the submits.
    if (complete && inTime) {
      processor = bench.target().processorNanos() - processor;
      results.add(tasks, (ledger.lastMicros() - dueMillis * 1_000) * 1_000, processor);
    }
    return complete;
  }

  /**
   * Measures the calls that a child process makes in one round. Returns whether all calls arrived.
   *
   * @param kind the first word of a command of {@link BareCaller}
   */
  private static boolean call(Bench bench, Child caller, String kind, Ledger ledger, int first, Results results) {
    int tasks = bench.tasks(TASKS);
    long processor = caller.processorNanos();
    long begun = System.nanoTime();
    caller.writeLine(kind + " " + first + " " + tasks);
    boolean complete = ledger.await(first + tasks, bench.patience());
    if (complete) {
      results.add(tasks, System.nanoTime() - begun, caller.processorNanos() - processor);
    }
    return complete;
  }
}
