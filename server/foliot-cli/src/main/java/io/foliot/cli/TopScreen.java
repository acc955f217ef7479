package io.foliot.cli;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The screen of {@code top}: figures of a server and their rates of change. Not thread-safe. */
final class TopScreen {
  /**
   * Number of refreshes that are kept. Percentiles cover all of them, because one second has too few tasks for a p99.
   */
  private static final int WINDOW = 10;
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss")
      .withZone(ZoneId.systemDefault());
  private static final Predicate<Figures.Sample> ALL = sample -> true;
  /** Names of the calls of the store that only read. They are not counted as batches. */
  private static final Set<String> READS = Set.of("due", "overdue", "prefetch", "probe");
  private static final Predicate<Figures.Sample> COMMITS = sample -> !READS.contains(sample.label("call"));

  private final String url;
  private final Deque<Figures> past = new ArrayDeque<>();
  private Figures now = Figures.NONE;
  private JsonView cluster = JsonView.parse("");
  private JsonView queues = JsonView.parse("");
  private Instant at = Instant.EPOCH;
  private String failure = "";

  TopScreen(String url) {
    this.url = url;
  }

  /** Replaces the figures with the latest responses of the server. */
  void update(String metrics, String queueList, String clusterView, Instant when, long nanos) {
    Figures figures = Figures.parse(metrics, nanos);
    if (figures.sum("process_start_time_seconds") != now.sum("process_start_time_seconds")) {
      // The server was restarted; its counters do not continue the earlier ones.
      past.clear();
    }
    past.addLast(figures);
    if (past.size() > WINDOW) {
      past.removeFirst();
    }
    now = figures;
    queues = JsonView.parse(queueList);
    cluster = JsonView.parse(clusterView);
    at = when;
    failure = "";
  }

  /** Records why the latest refresh failed. */
  void failed(String reason, Instant when) {
    failure = reason;
    at = when;
  }

  /** Returns the oldest figures in the window, or no figures. */
  private Figures oldest() {
    return past.isEmpty() ? Figures.NONE : past.getFirst();
  }

  /** Returns the figures before the latest, or no figures. */
  private Figures previous() {
    List<Figures> all = new ArrayList<>(past);
    return all.size() < 2 ? Figures.NONE : all.get(all.size() - 2);
  }

  private double submits() {
    return now.perSecond(previous(), "foliot_accepted_total", ALL);
  }

  private double settles(Predicate<Figures.Sample> which) {
    return now.perSecond(previous(), "foliot_attempts_seconds_count", which);
  }

  private static Predicate<Figures.Sample> outcome(String outcome) {
    return sample -> sample.label("outcome").equals(outcome);
  }

  private String lateness(double share) {
    return Words.seconds(now.percentile(oldest(), "foliot_lateness_seconds", share, ALL));
  }

  private String lag() {
    return Words.seconds(now.sum("foliot_lag_seconds"));
  }

  private static Predicate<Figures.Sample> state(String state) {
    return sample -> sample.label("state").equals(state);
  }

  /** Returns the figures of all queues together in one line, for an output that is not a terminal. */
  String line() {
    if (!failure.isEmpty()) {
      return TIME.format(at) + "  " + failure;
    }
    return TIME.format(at) + "  submits " + Words.count(submits()) + "/s  settles " + Words.count(settles(ALL))
        + "/s  lateness p50 " + lateness(0.5) + " p99 " + lateness(0.99) + "  lag " + lag() + "  delayed "
        + Words.count(now.sum("foliot_tasks", state("delayed"))) + "  running "
        + Words.count(now.sum("foliot_tasks", state("running"))) + "  failed "
        + Words.count(now.sum("foliot_tasks", state("failed")));
  }

  /** Returns the screen: at most {@code height} lines of at most {@code width} characters. */
  List<String> lines(Shell shell, int height, int width) {
    List<String> lines = new ArrayList<>();
    lines.add(shell.in(Colour.BOLD, cut("Foliot " + cluster.at("version").text("") + "  " + url + "  node "
        + cluster.at("node").text() + "  store " + cluster.at("store", "kind").text() + ", class "
        + cluster.at("store", "durability").text() + "  " + TIME.format(at), width)));
    if (!failure.isEmpty()) {
      lines.add(shell.in(Colour.RED, cut(failure + "; trying again every second", width)));
    }
    lines.add("");
    lines.add(cut("tasks     submits " + Words.count(submits()) + "/s   settles " + Words.count(settles(ALL))
        + "/s (finished " + Words.count(settles(outcome("finished"))) + ", retried "
        + Words.count(settles(outcome("retried"))) + ", failed " + Words.count(settles(outcome("failed"))) + ")",
        width));
    lines.add(cut("lateness  p50 " + lateness(0.5) + "   p99 " + lateness(0.99) + "   lag " + lag()
        + "   in the wheel " + Words.count(now.sum("foliot_wheel_entries")), width));
    double calls = now.perSecond(oldest(), "foliot_store_calls_seconds_count", COMMITS);
    double items = now.perSecond(oldest(), "foliot_store_items_sum", COMMITS);
    lines.add(cut("store     " + Words.count(calls) + " batches/s of " + Words.count(calls == 0 ? 0 : items / calls)
        + "   p50 " + Words.seconds(now.percentile(oldest(), "foliot_store_calls_seconds", 0.5, COMMITS)) + "   p99 "
        + Words.seconds(now.percentile(oldest(), "foliot_store_calls_seconds", 0.99, COMMITS)) + "   loop turn p99 "
        + Words.seconds(now.percentile(oldest(), "foliot_loop_turns_seconds", 0.99, ALL)), width));
    lines.add("");
    List<String> destinations = destinations();
    // Up to 6 lines are reserved for destinations, and 2 more for an empty line and the last line.
    int room = Math.max(2, height - lines.size() - Math.min(destinations.size(), 6) - 2);
    addTable(lines, queueTable(), room, width, shell);
    lines.add("");
    addTable(lines, destinations, Math.max(0, height - lines.size() - 1), width, shell);
    while (lines.size() > height - 1) {
      lines.removeLast();
    }
    lines.add(shell.in(Colour.GREY, cut("q quits", width)));
    return lines;
  }

  // The room includes the heading and, if some rows do not fit, a line with their number.
  private static void addTable(List<String> lines, List<String> table, int room, int width, Shell shell) {
    if (table.isEmpty() || room < 1) {
      return;
    }
    lines.add(shell.in(Colour.BOLD, cut(table.getFirst(), width)));
    int rows = table.size() <= room ? table.size() - 1 : room - 2;
    table.stream().skip(1).limit(Math.max(0, rows)).forEach(row -> lines.add(cut(row, width)));
    if (rows >= 0 && rows < table.size() - 1) {
      lines.add(shell.in(Colour.GREY, cut("(and " + (table.size() - 1 - rows) + " more)", width)));
    }
  }

  /** Returns the table of queues. The busiest come first, because the screen may not have room for all queues. */
  private List<String> queueTable() {
    Map<String, Double> waiting = byLabel("foliot_lane_waiting", "queue");
    Map<String, Double> running = byLabel("foliot_lane_running", "queue");
    Table table = new Table().left("QUEUE").right("DELAYED").right("PARKED").right("IN LANE").right("RUNNING")
        .right("FINISHED").right("FAILED").right("PER SECOND").right("LAG").left("TO");
    queues.at("queues").items().stream()
        .sorted(
            Comparator.comparingDouble((JsonView queue) -> queue.at("stats", "settledPerSecond").decimal()).reversed())
        .forEach(queue -> {
          String name = queue.at("queue").text();
          JsonView counts = queue.at("stats", "counts");
          table.row(name, Words.count(counts.at("delayed").decimal()), Words.count(counts.at("parked").decimal()),
              Words.count(waiting.getOrDefault(name, 0.0)), Words.count(running.getOrDefault(name, 0.0)),
              Words.count(counts.at("finished").decimal()), Words.count(counts.at("failed").decimal()),
              Words.count(queue.at("stats", "settledPerSecond").decimal()),
              Words.rough(queue.at("stats", "lag").text()),
              QueuesCommand.target(queue));
        });
    return table.lines();
  }

  private List<String> destinations() {
    Map<String, Double> limits = byLabel("foliot_destination_limit", "destination");
    Map<String, Double> running = byLabel("foliot_destination_running", "destination");
    if (limits.isEmpty()) {
      return List.of();
    }
    Table table = new Table().left("DESTINATION").right("RUNNING").right("AT ONCE");
    limits.forEach((name, limit) -> table.row(name, Words.count(running.getOrDefault(name, 0.0)), Words.count(limit)));
    return table.lines();
  }

  private Map<String, Double> byLabel(String name, String label) {
    Map<String, Double> values = new TreeMap<>();
    now.all(name).forEach(sample -> values.merge(sample.label(label), sample.value(), Double::sum));
    return values;
  }

  private static String cut(String text, int width) {
    String plain = Shell.plain(text);
    return plain.length() <= width ? plain : plain.substring(0, Math.max(0, width));
  }
}
