package io.foliot.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.cli.FoliotCommand;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs each scenario with few tasks against a real server, and some against programs that lose tasks. */
@Tag("long")
final class ScenarioTest {
  private static final int TASKS = 300;
  private static final double SECONDS = 0.4;

  private static Bench bench(Path folder, @Nullable URI url, IntPredicate receiverLoses) {
    Bench.Plan plan = new Bench.Plan(url, "", TASKS, SECONDS, 8, folder, folder, FoliotCommand.class, List.of(),
        Duration.ofSeconds(2));
    return new Bench(plan, new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8),
        receiverLoses);
  }

  private static List<String> failures(Report report) {
    return report.checks().stream().filter(check -> !check.holds()).map(Report.Check::what).toList();
  }

  @Test
  void everyScenarioProvesItsWorkAndLeavesOnlyItsReport(@TempDir Path folder) throws Exception {
    try (Bench bench = bench(folder, null, number -> false)) {
      for (Scenario scenario : Scenario.all()) {
        Report report = scenario.run(bench);
        assertThat(failures(report)).as(scenario.name()).isEmpty();
        assertThat(report.isProven()).as(scenario.name()).isTrue();
        assertThat(report.figures()).as(scenario.name()).isNotEmpty();
        assertThat(report.figures()).as(scenario.name()).allMatch(figure -> Double.isFinite(figure.value()));
      }
    }
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.map(file -> file.getFileName().toString())).containsExactlyInAnyOrder("pending.csv",
          "pending.json", "pending.svg");
    }
  }

  @Test
  void aReceiverThatLosesOneTaskIsDetected(@TempDir Path folder) {
    List<Scenario> calling = List.of(new LatenessScenario(), new HerdScenario(), new CallbacksScenario());
    try (Bench bench = bench(folder, null, number -> number == 7)) {
      for (Scenario scenario : calling) {
        Report report = scenario.run(bench);
        assertThat(report.isProven()).as(scenario.name()).isFalse();
        assertThat(failures(report)).as(scenario.name()).anyMatch(what -> what.contains("delivered: "));
      }
    }
  }

  @Test
  void aServerThatAcknowledgesAndForgetsIsDetected(@TempDir Path folder) {
    List<Scenario> submitting = List.of(new SubmitLatencyScenario(), new SubmitScenario(), new BatchHttpScenario());
    try (Child empty = Child.start(List.of(), EmptyServer.class.getName(), List.of(), EmptyServer.READY);
        Bench bench = bench(folder, URI.create(empty.readyText()), number -> false)) {
      for (Scenario scenario : submitting) {
        assertThat(proves(scenario, bench)).as(scenario.name()).isFalse();
      }
    }
  }

  private static boolean proves(Scenario scenario, Bench bench) {
    try {
      return scenario.run(bench).isProven();
    } catch (RuntimeException e) {
      return false;
    }
  }
}
