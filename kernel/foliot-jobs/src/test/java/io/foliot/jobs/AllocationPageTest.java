package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Allocation;
import io.foliot.core.coordination.Fleet.Seat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Compares the table of allocations in {@code docs/jobs.md} with the computed table, or writes the computed table. */
final class AllocationPageTest {
  private static final Path PAGE = (Files.exists(Path.of("ARCHITECTURE.md")) ? Path.of("") : Path.of("..", ".."))
      .resolve("docs").resolve("jobs.md");
  private static final String BEGIN = "<!-- allocations: written by AllocationPageTest -->\n";
  private static final String END = "<!-- end of allocations -->\n";
  private static final int SHARDS = 10;

  private static String shards(Allocation rule, String job, List<Seat> workers, int seat) {
    List<Integer> seats = ShardAllocation.seats(rule, job, SHARDS, workers);
    List<Integer> mine = new ArrayList<>();
    for (int shard = 0; shard < SHARDS; shard++) {
      if (seats.get(shard) == seat) {
        mine.add(shard);
      }
    }
    return mine.stream().map(String::valueOf).collect(Collectors.joining(" "));
  }

  private static void row(StringBuilder table, Allocation rule, String job) {
    List<Seat> three = Workers.of(3).seats();
    table.append("| `").append(rule.name().toLowerCase(Locale.ROOT).replace('_', '-')).append("` | `")
        .append(job).append("` |");
    for (int seat = 0; seat < 3; seat++) {
      table.append(' ').append(shards(rule, job, three, seat)).append(" |");
    }
    List<Seat> left = three.stream().filter(seat -> seat.number() != 1).toList();
    table.append(' ').append(shards(rule, job, left, 0)).append(" / ").append(shards(rule, job, left, 2))
        .append(" |\n");
  }

  private static String table() {
    StringBuilder table = new StringBuilder("""

        | rule | job | worker-0 | worker-1 | worker-2 | without worker-1: worker-0 / worker-2 |
        |---|---|---|---|---|---|
        """);
    row(table, Allocation.AVERAGE, "report");
    row(table, Allocation.ODD_EVEN, "report");
    row(table, Allocation.ODD_EVEN, "orders");
    row(table, Allocation.HASH, "report");
    row(table, Allocation.ROUND_ROBIN, "report");
    row(table, Allocation.ROUND_ROBIN, "orders");
    return table.append('\n').toString();
  }

  @Test
  void thePageHasTheComputedTable() throws IOException {
    String page = Files.readString(PAGE);
    int from = page.indexOf(BEGIN) + BEGIN.length();
    int to = page.indexOf(END);
    assertThat(to).as("the page has the marks of the table").isGreaterThanOrEqualTo(from);
    if ("write".equals(System.getProperty("foliot.pages"))) {
      Files.writeString(PAGE, page.substring(0, from) + table() + page.substring(to));
      return;
    }
    assertThat(page.substring(from, to))
        .as("to write the table: mvn -ntp test -pl :foliot-jobs -am -Dtest=AllocationPageTest"
            + " -Dsurefire.failIfNoSpecifiedTests=false -Dfoliot.pages=write")
        .isEqualTo(table());
  }

  @Test
  void theExampleNamesHaveAnOddAndAnEvenHash() {
    assertThat("report".hashCode() % 2).isNotEqualTo("orders".hashCode() % 2);
  }
}
