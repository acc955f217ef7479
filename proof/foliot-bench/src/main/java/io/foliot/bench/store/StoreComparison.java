package io.foliot.bench.store;

import io.foliot.core.store.Durability;
import io.foliot.core.store.TaskStore;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares Foliot's stores with other schedulers and with bare commands, in one run, on the same real servers with the
 * same settings: databases sync each commit, and Redis syncs once a second. All contenders do the same work. The result
 * is checked: every submitted task is in the store, and every drained task begins once. Prints tables of medians.
 *
 * <p>From the root of the project:
 *
 * <pre>{@code
 * mvn -q -pl :foliot-bench -am -Pcompare-stores process-test-classes
 * mvn -q -pl :foliot-bench -am -Pcompare-stores process-test-classes -Dbench.args="--list"
 * mvn -q -pl :foliot-bench -am -Pcompare-stores process-test-classes -Dbench.args="--rows postgres-drain --rounds 5"
 * mvn -q -pl :foliot-bench -am -Pcompare-stores process-test-classes -Dbench.args="--rows postgres-pending"
 * mvn -q -pl :foliot-bench -am -Pcompare-stores process-test-classes -Dbench.args="--rows cluster"
 * }</pre>
 *
 * <p>The figures:
 *
 * <ul>
 * <li>Drain: tasks that do nothing are inserted in advance, and all are due. The time is from the beginning of the
 * first task until the ends of all tasks are durable. The start of a scheduler is not included.
 * <li>Submit and reset: each caller has its own thread and waits for each answer.
 * <li>Cluster: several nodes in this process over one database. They share the slots before a backlog becomes due at
 * one instant. A claim is lost if it wins no task, for example because another node had claimed the task.
 * <li>Lateness: from the due instant to the beginning of the attempt. The rows {@code *-lateness} measure it by the
 * store's clock, all other rows by this machine's clock.
 * </ul>
 */
public final class StoreComparison {
  private final StoreOptions options;
  private final PrintStream out;
  private final PrintStream progress;

  StoreComparison(StoreOptions options, PrintStream out, PrintStream progress) {
    this.options = options;
    this.out = out;
    this.progress = progress;
  }

  /** Runs the comparison. {@link StoreOptions#USAGE} describes the arguments. */
  public static void main(String[] args) throws Exception {
    List<String> words = List.of(args);
    if (words.contains("--help")) {
      System.out.print(StoreOptions.USAGE);
    } else if (words.contains("--list")) {
      Rows.ALL.forEach(row -> System.out.println(row.name()));
    } else {
      new StoreComparison(StoreOptions.parse(args), System.out, System.err).run();
      // Threads that peers leave behind would keep the JVM running.
      System.exit(0);
    }
  }

  List<Table> run() throws Exception {
    List<Row> rows = Rows.ALL.stream().filter(options::wants).toList();
    if (rows.isEmpty()) {
      throw new IllegalArgumentException("a row must be one of those that --list names: rows=" + options.rows());
    }
    out.println(Conditions.machine());
    out.println("Compared with " + Conditions.peers() + ". Rounds: " + options.rounds() + ", medians.");
    List<Table> tables = new ArrayList<>();
    try (Sites sites = new Sites(this::describe)) {
      for (Row row : rows) {
        Table table = row.measure(sites, options, progress::println);
        tables.add(table);
        out.print(table.markdown());
        out.flush();
      }
    }
    writeJson(tables);
    return tables;
  }

  private void describe(Site site) throws Exception {
    out.println(site.describe());
    try (TaskStore store = site.openStore()) {
      Durability durability = store.durability();
      out.println("Foliot's store there: " + store.kind() + ", durability " + durability.durabilityClass() + " ("
          + durability.detail() + ")");
    }
  }

  private void writeJson(List<Table> tables) throws IOException {
    if (options.json() != null) {
      List<String> lines = tables.stream().flatMap(table -> table.json().stream()).toList();
      Files.writeString(options.json(), "[\n" + String.join(",\n", lines) + "\n]\n", StandardCharsets.UTF_8);
    }
  }
}
