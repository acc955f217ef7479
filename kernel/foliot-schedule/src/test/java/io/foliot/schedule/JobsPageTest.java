package io.foliot.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import com.cronutils.model.CronType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Computes the tables of clock changes in {@code docs/jobs.md}, with the schedules of Foliot and of its peers. */
final class JobsPageTest {
  private static final Path PAGE = (Files.exists(Path.of("ARCHITECTURE.md")) ? Path.of("") : Path.of("..", ".."))
      .resolve("docs").resolve("jobs.md");
  private static final String REWRITE = "mvn -ntp test -pl :foliot-schedule -am -Dtest=JobsPageTest"
      + " -Dsurefire.failIfNoSpecifiedTests=false -Dfoliot.pages=write";
  private static final String BEGIN = "<!-- clock changes: written by JobsPageTest -->\n";
  private static final String END = "<!-- end of clock changes -->\n";
  private static final int MAX_TIMES = 20;

  /** An expression and the local hours around a clock change. */
  private record Row(String cron, String zone, String from, int hours) {
    Instant start() {
      return LocalDateTime.parse(from).atZone(ZoneId.of(zone)).toInstant();
    }

    Instant end() {
      return start().plus(Duration.ofHours(hours));
    }
  }

  private static final List<Row> GAPS = List.of(new Row("30 2 * * *", "America/New_York", "2026-03-08T00:00", 4),
      new Row("0,30 2 * * *", "America/New_York", "2026-03-08T00:00", 4),
      new Row("*/30 * * * *", "America/New_York", "2026-03-08T01:30", 2),
      new Row("15 * * * *", "America/New_York", "2026-03-08T01:00", 3),
      new Row("0 */2 * * *", "America/New_York", "2026-03-08T00:00", 4),
      new Row("0 0 * * *", "America/Santiago", "2026-09-05T23:00", 4));
  private static final List<Row> OVERLAPS = List.of(
      new Row("30 1 * * *", "America/New_York", "2026-11-01T00:00", 5),
      new Row("*/30 * * * *", "America/New_York", "2026-11-01T01:00", 2),
      new Row("15 * * * *", "America/New_York", "2026-11-01T01:00", 3),
      new Row("0 1-3 * * *", "America/New_York", "2026-11-01T00:00", 5),
      new Row("*/10 * * * *", "Australia/Lord_Howe", "2026-04-05T01:30", 1));

  private static String cell(Row row, Function<Instant, @Nullable Instant> next, String pattern) {
    DateTimeFormatter format = DateTimeFormatter.ofPattern(pattern);
    List<String> times = new ArrayList<>();
    Instant time = next.apply(row.start().minusNanos(1));
    while (time != null && time.isBefore(row.end()) && times.size() < MAX_TIMES) {
      times.add(time.atZone(ZoneId.of(row.zone())).format(format));
      time = next.apply(time);
    }
    return times.isEmpty() ? "none" : String.join(", ", times);
  }

  /** Returns a cell of a peer. The search ends after 5 s, because some peers loop endlessly at clock changes. */
  private static String bounded(Row row, Peers peer, String pattern) {
    try (var executor = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().factory())) {
      Future<String> cell = executor.submit(() -> cell(row, peer::next, pattern));
      try {
        return cell.get(5, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        return "does not end";
      } catch (ExecutionException e) {
        return "fails";
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      } finally {
        executor.shutdownNow();
      }
    }
  }

  private static String table(List<Row> rows, String pattern, List<Function<CronSchedule, CronSchedule>> variants) {
    StringBuilder table = new StringBuilder();
    for (Row row : rows) {
      ZoneId zone = ZoneId.of(row.zone());
      CronSchedule schedule = CronSchedule.parse(row.cron(), zone);
      table.append("| `").append(row.cron()).append("` | ").append(row.zone()).append(", ")
          .append(row.from().replace('T', ' ')).append(" | **").append(cell(row, schedule::next, pattern))
          .append("** | ");
      for (Function<CronSchedule, CronSchedule> variant : variants) {
        table.append(cell(row, variant.apply(schedule)::next, pattern)).append(" | ");
      }
      String sixFields = "0 " + row.cron();
      table.append(bounded(row, Peers.spring(sixFields, zone), pattern)).append(" | ");
      table.append(bounded(row, Peers.quartz(sixFields.substring(0, sixFields.length() - 1) + "?", zone), pattern))
          .append(" | ");
      table.append(bounded(row, Peers.cronUtils(row.cron(), CronType.UNIX, zone), pattern)).append(" |\n");
    }
    return table.toString();
  }

  private static String tables() {
    return """

        A gap: the local times that the clock skips.

        | expression | zone and begin | **Foliot** | `dstGap: skip` | Spring 7.0 | Quartz 2.5 | cron-utils 9.2 |
        |---|---|---|---|---|---|---|
        """ + table(GAPS, "HH:mm", List.of(schedule -> schedule.with(DstGap.SKIP, DstOverlap.AUTO))) + """

        An overlap: the local times that the clock repeats, with their offsets.

        | expression | zone and begin | **Foliot** | `first` | `both` | Spring 7.0 | Quartz 2.5 | cron-utils 9.2 |
        |---|---|---|---|---|---|---|---|
        """ + table(OVERLAPS, "HH:mmx",
        List.of(schedule -> schedule.with(DstGap.SHIFT, DstOverlap.FIRST),
            schedule -> schedule.with(DstGap.SHIFT, DstOverlap.BOTH)))
        + "\n";
  }

  @Test
  void thePageHasTheComputedTables() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    assertThat(end).as("the page has the marks around the tables").isGreaterThanOrEqualTo(begin);
    String computed = page.substring(0, begin) + tables() + page.substring(end);
    if (System.getProperty("foliot.pages", "").equals("write")) {
      Files.writeString(PAGE, computed);
      page = computed;
    }
    assertThat(page).as("docs/jobs.md differs from the computed tables; this command rewrites them: %s", REWRITE)
        .isEqualTo(computed);
  }

  @Test
  void thePageNamesEachSetting() throws IOException {
    String page = Files.readString(PAGE);
    assertThat(new TreeSet<>(ScheduleSettings.NAMES)).allSatisfy(name -> assertThat(page).contains("`" + name + "`"));
    for (CronDialect dialect : CronDialect.values()) {
      assertThat(page).contains("`" + dialect.text() + "`");
    }
  }
}
