package io.foliot.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the rules of docs/alerts.yml over series as a server exports them, with {@code promtool}, which comes with
 * Prometheus.
 */
@Tag("machine")
class AlertRulesTest {
  private static final Path RULES = Path.of("../../docs/alerts.yml");

  @TempDir
  private Path folder = Path.of("");

  private String promtool(String rules) throws IOException, InterruptedException {
    Files.writeString(folder.resolve("alerts.yml"), rules);
    try (InputStream series = requireNonNull(AlertRulesTest.class.getResourceAsStream("alerts-test.yml"))) {
      Files.write(folder.resolve("alerts-test.yml"), series.readAllBytes());
    }
    Path output = folder.resolve("output");
    Process process = new ProcessBuilder("promtool", "test", "rules", "alerts-test.yml").directory(folder.toFile())
        .redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).as("promtool ended").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return process.exitValue() == 0 ? "" : Files.readString(output);
  }

  @Test
  void eachAlertFiresForTheFirstEvent() throws IOException, InterruptedException {
    assertThat(promtool(Files.readString(RULES))).isEmpty();
  }

  /** The rule that misses a counter which is above 0 when Prometheus sees it first. */
  @Test
  void aRuleThatNeedsAnIncreaseIsFound() throws IOException, InterruptedException {
    String rules = Files.readString(RULES);
    String second = "or sum by (queue) (foliot_dead_letters_total unless foliot_dead_letters_total offset 15m) > 0";
    assertThat(rules).contains(second);
    assertThat(promtool(rules.replace(second, ""))).contains("FoliotDeadLetters");
  }
}
