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
 * @param rows the names of what to measure; empty for the usual ones
 * @param contenders parts of the names of the contenders; empty for all
 * @param isWarm whether each contender has a round before those that count, and variants have their turn
 * @param rounds how often each contender has its turn
 * @param work the work of one round
 * @param lateness for how long tasks come while lateness is measured
 * @param pending the number of waiting tasks that {@code pending} compares 10,000 with
 * @param json where all figures are written to, or null
 */
record StoreOptions(List<String> rows, List<String> contenders, boolean isWarm, int rounds, Work work,
    Duration lateness, int pending,
    @Nullable Path json) {
  static final String USAGE = """
      --quick             shows that everything works, and says nothing of speed; leaves out variants
      --list              names what can be measured
      --rows A,B          only these; the beginning of a name is enough, except for postgres-pending,
                          postgres-jobs-minute, -instant, -calls (all but those)
      --contenders A,B    only those whose names contain one of these
      --rounds N          how often each has its turn (3)
      --tasks N           tasks that Foliot drains a round, others their share; at most so many live keys (200000)
      --seconds S         how long callers call (1.5)
      --lateness S        how long tasks come at a steady rate (15)
      --pending N         how many tasks wait in postgres-pending (10000000)
      --json FILE         writes each round's figures there
      """;

  StoreOptions {
    if (rounds < 1 || pending < 1) {
      throw new IllegalArgumentException("there is something to do: rounds=" + rounds + ", pending=" + pending);
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

  /** Returns whether a contender takes part. */
  boolean wants(RateRow.Entry entry) {
    return (isWarm || !entry.isVariant()) && wants(entry.contender().name());
  }

  /** Returns whether one of this name takes part. */
  boolean wants(String contender) {
    return contenders.isEmpty() || contenders.stream().anyMatch(contender::contains);
  }

  /** Returns whether a row is measured. */
  boolean wants(Row row) {
    return rows.contains(row.name())
        || (row.isUsual() && (rows.isEmpty() || rows.stream().anyMatch(row.name()::startsWith)));
  }
}
