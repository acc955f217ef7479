package io.foliot.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TopScreenTest {
  private static final Shell SHELL = new Shell(new ByteArrayInputStream(new byte[0]), System.out, System.err, Map.of(),
      false);
  /** One second in nanoseconds. */
  private static final long SECOND = 1_000_000_000;

  /**
   * Returns metrics of a server.
   *
   * @param started the start of the process, in seconds since 1970
   * @param accepted the number of tasks that were created in the queue {@code a}
   * @param within1 the number of tasks that were at most 1 ms late
   * @param within10 the number of tasks that were at most 10 ms late, including {@code within1}
   */
  private static String metrics(double started, int accepted, int within1, int within10) {
    return """
        # HELP foliot_accepted_total Tasks
        process_start_time_seconds %s
        foliot_accepted_total{queue="a",result="created"} %d
        foliot_accepted_total{queue="b{,\\"x\\"}",result="reset"} 1
        foliot_lateness_seconds_bucket{queue="a",le="0.001"} %d
        foliot_lateness_seconds_bucket{queue="a",le="0.01"} %d
        foliot_lateness_seconds_bucket{queue="a",le="+Inf"} %d
        foliot_lag_seconds NaN
        """.formatted(started, accepted, within1, within10, within10);
  }

  @Test
  void labelsMayHaveAnyTextAndHistogramsYieldPercentiles() {
    Figures before = Figures.parse(metrics(1, 100, 0, 0), 0);
    Figures after = Figures.parse(metrics(1, 350, 50, 100), SECOND / 2);
    assertThat(after.all("foliot_accepted_total")).extracting(sample -> sample.label("queue"))
        .containsExactly("a", "b{,\"x\"}");
    assertThat(after.perSecond(before, "foliot_accepted_total", sample -> true)).isCloseTo(500, within(0.01));
    assertThat(after.percentile(before, "foliot_lateness_seconds", 0.5, sample -> true)).isCloseTo(0.001,
        within(1e-9));
    assertThat(after.percentile(before, "foliot_lateness_seconds", 0.75, sample -> true)).isCloseTo(0.0055,
        within(1e-9));
    assertThat(after.percentile(after, "foliot_lateness_seconds", 0.5, sample -> true)).isNaN();
  }

  @Test
  void aRestartedServerCountsFromZero() {
    TopScreen screen = new TopScreen("http://x");
    screen.update(metrics(1, 1_000, 0, 0), "{}", "{}", Instant.EPOCH, 0);
    screen.failed("nothing answers", Instant.EPOCH);
    assertThat(screen.line()).contains("nothing answers");
    screen.update(metrics(2, 10, 0, 0), "{}", "{}", Instant.EPOCH, SECOND);
    assertThat(screen.line()).contains("submits 0/s");
    screen.update(metrics(2, 30, 0, 0), "{}", "{}", Instant.EPOCH, 2 * SECOND);
    assertThat(screen.line()).contains("submits 20/s");
  }

  @Test
  void theScreenNeverOutgrowsTheTerminal() {
    StringBuilder queues = new StringBuilder("{\"queues\": [");
    StringBuilder metrics = new StringBuilder();
    for (int i = 0; i < 50; i++) {
      queues.append(i == 0 ? "" : ",").append("{\"queue\": \"queue-").append(i)
          .append("\", \"stats\": {\"counts\": {\"delayed\": 1}, \"settledPerSecond\": ").append(i).append("}}");
      metrics.append("foliot_destination_limit{destination=\"d").append(i).append("\"} 1\n");
    }
    TopScreen screen = new TopScreen("http://x");
    screen.update(metrics.toString(), queues + "]}", "{}", Instant.EPOCH, 0);
    for (int height = 4; height < 120; height++) {
      for (int width : List.of(20, 80, 200)) {
        List<String> lines = screen.lines(SHELL, height, width);
        assertThat(lines).hasSizeLessThanOrEqualTo(height).allMatch(line -> line.length() <= width);
      }
    }
    assertThat(String.join("\n", screen.lines(SHELL, 30, 200))).contains("queue-49").contains("more)");
  }
}
