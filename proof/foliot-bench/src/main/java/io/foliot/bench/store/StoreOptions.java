package io.foliot.bench.store;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of {@link StoreComparison}.
 *
 * @param rows the names of the rows to measure, or prefixes of names; empty for the usual rows
 * @param contenders parts of the names of the contenders; empty for all
 * @param isWarm whether there are warm-up rounds, and variants are measured as well
 * @param rounds the number of measured rounds
 * @param work the work of one round
 * @param lateness how long tasks are submitted while lateness is measured
 * @param pending the number of waiting tasks that the row postgres-pending compares with 10,000
 * @param json the file to which all figures are written, or null
 */
record StoreOptions(List<String> rows, List<String> contenders, boolean isWarm, int rounds, Work work,
    Duration lateness, int pending,
    @Nullable Path json) {
  static final String USAGE = """
      --quick             a short run that shows that everything works; its figures mean nothing; without variants
      --list              print the names of all rows
      --rows A,B          measure only rows whose names begin with one of these; rows that take minutes need their
                          full names (all rows but those that take minutes)
      --contenders A,B    measure only contenders whose names contain one of these (all)
      --rounds N          number of measured rounds (3)
      --tasks N           tasks that Foliot drains in a round; slower contenders get fewer; also the maximum of
                          live keys (200000)
      --seconds S         how long callers repeat their calls in a round (1.5)
      --lateness S        how long tasks are submitted at a steady rate (15)
      --pending N         number of waiting tasks in postgres-pending (10000000)
      --json FILE         write the figures of each round to this file
      """;

  StoreOptions {
    if (rounds < 1 || pending < 1) {
      throw new IllegalArgumentException(
          "rounds and pending must be positive: rounds=" + rounds + ", pending=" + pending);
    }
  }

  static StoreOptions parse(String... args) {
    Deque<String> left = new ArrayDeque<>(List.of(args));
    List<String> rows = List.of();
    List<String> contenders = List.of();
    boolean isQuick = left.remove("--quick");
    int rounds = isQuick ? 1 : 3;
    int tasks = isQuick ? 200 : 200_000;
    Duration time = Duration.ofMillis(isQuick ? 100 : 1_500);
    Duration lateness = Duration.ofSeconds(isQuick ? 1 : 15);
    int pending = isQuick ? 11_000 : 10_000_000;
    Path json = null;
    while (!left.isEmpty()) {
      String option = left.remove();
      String value = left.isEmpty() ? "" : left.remove();
      switch (option) {
        case "--rows" -> rows = Arrays.asList(value.split(",", -1));
        case "--contenders" -> contenders = Arrays.asList(value.split(",", -1));
        case "--rounds" -> rounds = Integer.parseInt(value);
        case "--tasks" -> tasks = Integer.parseInt(value);
        case "--seconds" -> time = seconds(value);
        case "--lateness" -> lateness = seconds(value);
        case "--pending" -> pending = Integer.parseInt(value);
        case "--json" -> json = Path.of(value);
        default ->
          throw new IllegalArgumentException("an option must be one of these: option=" + option + "\n" + USAGE);
      }
    }
    return new StoreOptions(rows, contenders, !isQuick, rounds, new Work(tasks, time), lateness, pending, json);
  }

  private static Duration seconds(String value) {
    return Duration.ofMillis(Math.round(Double.parseDouble(value) * 1_000));
  }

  boolean wants(RateRow.Entry entry) {
    return (isWarm || !entry.isVariant()) && wants(entry.contender().name());
  }

  boolean wants(String contender) {
    return contenders.isEmpty() || contenders.stream().anyMatch(contender::contains);
  }

  boolean wants(Row row) {
    return rows.contains(row.name())
        || (row.isUsual() && (rows.isEmpty() || rows.stream().anyMatch(row.name()::startsWith)));
  }
}
