package io.foliot.bench.timer;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The options of {@link TimerComparison}.
 *
 * @param contenders the timers to be measured
 * @param live the numbers of timers that wait while calls are measured; each round measures the calls with each number
 * @param rounds the number of measured rounds
 * @param timers how many timers are scheduled when firing and memory are measured
 * @param isFull whether firing is measured with all shapes and all shares of cancelled timers; if not, only with evenly
 *     spread deadlines and no cancelled timers
 * @param json the file to which all figures are written; null for no file
 */
record ComparisonOptions(
    List<Contender> contenders,
    List<Integer> live,
    int rounds,
    int timers,
    boolean isFull,
    @Nullable Path json) {
  static final String USAGE = """
      --quick           one round with 100,000 waiting timers
      --full            measure firing with all shapes of deadlines and all shares of cancelled timers
      --peers A,B       measure only these, out of %s (all)
      --live N,M        number of timers that wait while calls are measured (100000,1000000)
      --rounds N        number of measured rounds (3)
      --timers N        number of timers when firing and memory are measured (1000000)
      --json FILE       write the figures of each round to this file
      """.formatted(Arrays.toString(Contender.values()));

  static ComparisonOptions parse(String... args) {
    Deque<String> left = new ArrayDeque<>(List.of(args));
    boolean isQuick = left.remove("--quick");
    boolean isFull = left.remove("--full");
    List<Contender> contenders = List.of(Contender.values());
    List<Integer> live = isQuick ? List.of(100_000) : List.of(100_000, 1_000_000);
    int rounds = isQuick ? 1 : 3;
    int timers = 1_000_000;
    Path json = null;
    while (!left.isEmpty()) {
      String option = left.remove();
      String value = left.isEmpty() ? "" : left.remove();
      switch (option) {
        case "--peers" -> contenders = split(value).map(ComparisonOptions::contender).toList();
        case "--live" -> live = split(value).map(Integer::valueOf).toList();
        case "--rounds" -> rounds = Integer.parseInt(value);
        case "--timers" -> timers = Integer.parseInt(value);
        case "--json" -> json = Path.of(value);
        default ->
          throw new IllegalArgumentException("an option must be one of these: option=" + option + "\n" + USAGE);
      }
    }
    return new ComparisonOptions(contenders, live, rounds, timers, isFull, json);
  }

  private static Stream<String> split(String value) {
    return Arrays.stream(value.split(",", -1));
  }

  private static Contender contender(String name) {
    return Contender.valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
  }
}
