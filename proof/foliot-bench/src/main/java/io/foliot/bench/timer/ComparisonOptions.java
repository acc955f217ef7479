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
 * @param live how many timers wait while calls are measured
 * @param rounds how often each contender has its turn
 * @param timers how many timers fire, or are weighed
 * @param isFull whether timers fire under every shape and cancelled share, or only evenly spread and none cancelled
 */
record ComparisonOptions(
    List<Contender> contenders,
    List<Integer> live,
    int rounds,
    int timers,
    boolean isFull,
    @Nullable Path json) {
  static final String USAGE = """
      --quick           one round with 100,000 live timers
      --full            all delay shapes and cancelled shares
      --peers A,B       some of %s
      --live N,M        how many timers wait while calls are measured (100000,1000000)
      --rounds N        how often each has its turn (3)
      --timers N        how many timers fire, or are weighed (1000000)
      --json FILE       writes each round's figures there
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
