package io.foliot.load;

import java.time.Duration;
import java.util.List;

/**
 * Callbacks of tasks that are all due, in turns with the same HTTP client that calls the same receiver without Foliot,
 * and with Foliot's delivery without the engine. A round begins at the instant that its tasks are due, and ends with
 * the last.
 */
final class CallbacksScenario implements Scenario {
  /** Tasks of a round: as many as fit into a queue's lane, so that none is parked. */
  private static final int TASKS = 20_000;
  private static final int ROUNDS = 3;
  private static final int BATCH = 1_000;
  private static final int CONNECTIONS = 4;
  /** Rounds before those that count: for the compilers, and for the destination to show how much it bears. */
  private static final int WARM_UP_ROUNDS = 6;
  /** Time enough to submit a round on a machine that is busy. */
  private static final long LEAD_MILLIS = 400;
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
    return "half of what the same HTTP client does without Foliot";
  }

  /** The results of one way of calling: a rate and the processor time of each round. */
  private static final class Way {
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
    Way foliot = new Way();
    Way bare = new Way();
    Way delivery = new Way();
    Report report = new Report();
    int acknowledged = 0;
    try (Child bareCaller = bench.startBeside(BareCaller.class, List.of(receiver.url(bareLedger)), BareCaller.READY);
        Child deliverer = bench.startBeside(BareCaller.class, List.of(receiver.url(deliveryLedger)),
            BareCaller.READY);
        Load load = Load.open(target.address(), CONNECTIONS)) {
      boolean complete = true;
      for (int i = 0; complete && i < WARM_UP_ROUNDS + ROUNDS; i++) {
        boolean counts = i >= WARM_UP_ROUNDS;
        Way unkept = new Way();
        int first = i * tasks;
        complete = call(bench, bareCaller, "bare", bareLedger, first, counts ? bare : unkept)
            && call(bench, deliverer, "delivery", deliveryLedger, first, counts ? delivery : unkept);
        Submits submits = new Submits(target, queue, Math.min(BATCH, tasks), first, ledger::dueMillis)
            .untilNumber(tasks);
        complete &= fire(bench, load, submits, ledger, first, counts ? foliot : unkept);
        submits.proveAcknowledged(report);
        acknowledged += submits.acknowledged();
      }
    }
    double ratio = foliot.rates.median() / Math.max(1, bare.rates.median());
    report.figure("callbacks", foliot.rates.median(), "/s")
        .figure("the same HTTP client, bare", bare.rates.median(), "/s")
        .figure("Foliot's delivery, without engine and store", delivery.rates.median(), "/s")
        .atLeast(0.5, "callbacks in parts of the bare client", ratio, "")
        .figure("processor time per callback", foliot.processorNanos.median() / 1e3, "us")
        .figure("of the bare client", bare.processorNanos.median() / 1e3, "us")
        .figure("of Foliot's delivery", delivery.processorNanos.median() / 1e3, "us");
    ledger.prove(report, "callbacks", acknowledged);
    report.checkEqual("calls of the bare client", all, bareLedger.delivered())
        .checkEqual("calls of the delivery", all, deliveryLedger.delivered())
        .checkEqual("finished on the server", acknowledged, target.awaitCount(queue, "finished", acknowledged));
    return report
        .note("medians of " + foliot.rates.size() + " rounds of " + tasks + ", in turns, after " + WARM_UP_ROUNDS
            + " that do not count; from the due instant of all to the last arrival");
  }

  /** Returns whether all callbacks arrived. */
  private static boolean fire(Bench bench, Load load, Submits submits, Ledger ledger, int first, Way way) {
    int tasks = bench.tasks(TASKS);
    long dueMillis = System.currentTimeMillis() + LEAD_MILLIS + tasks / LEAD_TASKS_PER_MILLI;
    for (int i = first; i < first + tasks; i++) {
      ledger.due(i, dueMillis);
    }
    submits.run(load, null, LIMIT);
    boolean inTime = System.currentTimeMillis() < dueMillis;
    long processor = bench.target().processorNanos();
    boolean complete = ledger.await(first + tasks, bench.patience());
    // A round that was not submitted in time says nothing of a rate.
    if (complete && inTime) {
      processor = bench.target().processorNanos() - processor;
      way.add(tasks, (ledger.lastMicros() - dueMillis * 1_000) * 1_000, processor);
    }
    return complete;
  }

  private static boolean call(Bench bench, Child caller, String word, Ledger ledger, int first, Way way) {
    int tasks = bench.tasks(TASKS);
    long processor = caller.processorNanos();
    long begun = System.nanoTime();
    caller.tell(word + " " + first + " " + tasks);
    boolean complete = ledger.await(first + tasks, bench.patience());
    if (complete) {
      way.add(tasks, System.nanoTime() - begun, caller.processorNanos() - processor);
    }
    return complete;
  }
}
