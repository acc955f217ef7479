package io.foliot.bench.timer;

import io.foliot.bench.timer.CallCosts.Call;
import io.foliot.bench.timer.Expiry.Shape;
import io.foliot.bench.timer.Results.Column;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Compares Foliot's timers with their peers, all in one run and with the same work. The work is checked: every timer
 * that was not cancelled fires exactly once, and no cancelled timer fires. Prints tables of medians.
 *
 * <p>From the root of the project:
 *
 * <pre>{@code
 * mvn -q -pl :foliot-bench -am -Pcompare-timers process-test-classes
 * mvn -q -pl :foliot-bench -am -Pcompare-timers process-test-classes -Dbench.args="--quick"
 * mvn -q -pl :foliot-bench -am -Pcompare-timers process-test-classes -Dbench.args="--full --rounds 5 --json timers.json"
 * mvn -q -pl :foliot-bench -am -Pcompare-timers process-test-classes -Dbench.heap=8g -Dbench.args="--live 10000000"
 * }</pre>
 *
 * <p>The figures:
 *
 * <ul>
 * <li>Calls: how long a call occupies its caller while many timers wait. For a timer that has no reset, a cancel and a
 * schedule are measured instead. The CPU column counts all threads, including those of the timer and of the garbage
 * collector.
 * <li>Firing: the CPU time of all threads for each timer that fires, and the lateness of the firings. All timers are
 * scheduled in advance and are due within one second. Lateness is the time from the due time, which is computed before
 * the call, to the first line of the callback. Delays are rounded up to milliseconds for Kafka and
 * {@code java.util.Timer}. Callbacks run on the thread that waits for the deadlines, with three exceptions. Callbacks
 * of Kafka run on its own executor, those of {@code WheelScheduledExecutor} on virtual threads, and those of
 * {@code ForkJoinPool} on its workers.
 * <li>Bytes: heap for each timer with its handle, but without callback.
 * <li>Idle: how often the threads of a timer wake.
 * </ul>
 */
public final class TimerComparison {
  /*
   * Contenders take turns, A B C A B C, so that a change in the load of the machine affects all of them. The contenders
   * share one JVM, so the JIT compiler has one profile of the calls through Peer, and optimizes these calls for no
   * single contender.
   */
  private static final int[] PRODUCERS = {1, 2};
  private static final int[] CANCELLED_PERCENT = {0, 50, 95};
  private static final int BATCH = 500;

  /** Batch for timers whose cancel takes milliseconds. */
  private static final int SMALL_BATCH = 20;

  private static final long CALLS_NANOS = TimeUnit.MILLISECONDS.toNanos(150);
  private static final long FIRING_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final int WARM_UP_LIVE = 20_000;
  private static final int WARM_UP_TIMERS = 100_000;
  private static final long WARM_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final ComparisonOptions options;
  private final Set<Contender> contenders = EnumSet.noneOf(Contender.class);
  private final PrintStream out;
  private final PrintStream progress;
  private final Results results = new Results();

  TimerComparison(ComparisonOptions options, PrintStream out, PrintStream progress) {
    this.options = options;
    this.out = out;
    this.progress = progress;
  }

  /** Runs the comparison. {@link ComparisonOptions#USAGE} describes the arguments. */
  public static void main(String[] args) throws IOException {
    if (List.of(args).contains("--help")) {
      System.out.print(ComparisonOptions.USAGE);
      return;
    }
    new TimerComparison(ComparisonOptions.parse(args), System.out, System.err).run();
  }

  Results run() throws IOException {
    printConditions();
    for (Contender contender : options.contenders()) {
      if (contender.isAvailable()) {
        contenders.add(contender);
      } else {
        out.println("Left out, because this JDK does not have it: " + contender.title());
      }
    }
    measureIdle();
    contenders.forEach(this::warmUp);
    contenders.forEach(this::weigh);
    for (int round = 1; round <= options.rounds(); round++) {
      String turn = "round " + round + " of " + options.rounds();
      options.live().forEach(live -> contenders.forEach(contender -> measureCalls(contender, live, turn)));
      contenders.forEach(contender -> measureFiring(contender, turn));
    }
    out.print(results.markdown());
    out.flush();
    if (options.json() != null) {
      Files.writeString(options.json(), results.json(), StandardCharsets.UTF_8);
    }
    return results;
  }

  private void printConditions() {
    Runtime runtime = Runtime.getRuntime();
    out.println(
        "Java " + Runtime.version() + ", " + System.getProperty("os.name") + " " + System.getProperty("os.arch") + ", "
            + runtime.availableProcessors() + " processors, heap " + (runtime.maxMemory() >> 20) + " MiB, rounds "
            + options.rounds() + ". In brackets: the figure as a multiple of the least in its column.");
  }

  private void measureIdle() {
    if (!IdleWakeUps.areVisible()) {
      out.println("Left out, because this system does not show it: idle wake-ups");
      return;
    }
    report("idle wake-ups", "all");
    List<Contender> order = List.copyOf(contenders);
    List<IdleWakeUps> wakeUps = IdleWakeUps.measure(order.stream().map(Contender::maker).toList(), IDLE_NANOS);
    for (int index = 0; index < order.size(); index++) {
      add("At rest", "wake-ups per second, no timer", false, order.get(index), wakeUps.get(index).empty());
      add("At rest", "one due in an hour", false, order.get(index), wakeUps.get(index).oneAhead());
    }
  }

  private void warmUp(Contender contender) {
    report("warm-up", contender.title());
    int live = Math.min(WARM_UP_LIVE, options.timers());
    for (int producers : PRODUCERS) {
      CallCosts.measure(contender.maker(), new CallCosts.Load(live, producers, batch(contender), CALLS_NANOS));
    }
    int timers = Math.min(WARM_UP_TIMERS, options.timers());
    Expiry.measure(contender.maker(), new Expiry.Load(timers, 0, Shape.UNIFORM, WARM_UP_NANOS));
  }

  private void weigh(Contender contender) {
    report("bytes", contender.title());
    double bytes = Footprint.bytesPerTimer(contender.maker(), options.timers());
    add("At rest", "bytes per timer with its handle", true, contender, bytes);
  }

  private void measureCalls(Contender contender, int live, String turn) {
    report(turn + ", calls, live " + live, contender.title());
    for (int producers : PRODUCERS) {
      CallCosts costs = CallCosts.measure(
          contender.maker(),
          new CallCosts.Load(live, producers, batch(contender), CALLS_NANOS));
      String table = String.format(Locale.ROOT, "Calls with %,d timers waiting, producers: %d, ns", live, producers);
      costs.nanos().forEach((call, nanos) -> add(table, name(call), true, contender, nanos));
      add(table, "CPU of " + name(Call.SCHEDULE_THEN_CANCEL), true, contender, costs.requestCpuNanos());
    }
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static int batch(Contender contender) {
    return contender.searchesToCancel() ? SMALL_BATCH : BATCH;
  }

  private void measureFiring(Contender contender, String turn) {
    for (Shape shape : options.isFull() ? Shape.values() : new Shape[]{Shape.UNIFORM}) {
      for (int percent : options.isFull() ? CANCELLED_PERCENT : new int[]{0}) {
        if (percent == 0 || !contender.searchesToCancel()) {
          measureFiring(contender, new Expiry.Load(options.timers(), percent, shape, FIRING_NANOS), turn);
        }
      }
    }
  }

  private void measureFiring(Contender contender, Expiry.Load load, String turn) {
    String shape = name(load.shape());
    report(turn + ", firing, " + shape + ", cancelled " + load.cancelledPercent() + " %", contender.title());
    Expiry expiry = Expiry.measure(contender.maker(), load);
    String table = String.format(
        Locale.ROOT,
        "Firing %,d timers of %,d within a second, %s",
        load.firing(),
        load.timers(),
        shape);
    add(table, "CPU ns per timer", false, contender, expiry.cpuNanosPerTimer());
    double callbackNanos = Expiry.callbackCpuNanos(load);
    add(table, "less the callback alone", true, contender, expiry.cpuNanosPerTimer() - callbackNanos);
    add(table, "late us, p50", true, contender, expiry.p50Nanos() / 1e3);
    add(table, "p99", true, contender, expiry.p99Nanos() / 1e3);
    add(table, "max", true, contender, expiry.maxNanos() / 1e3);
    add(table, "min (negative is early)", false, contender, expiry.earliestNanos() / 1e3);
  }

  private void add(String table, String title, boolean isRated, Contender contender, double figure) {
    results.add(new Column(table, title, isRated), contender, figure);
  }

  private void report(String step, String subject) {
    progress.println(step + ": " + subject);
  }
}
