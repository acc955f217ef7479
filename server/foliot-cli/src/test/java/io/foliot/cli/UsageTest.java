package io.foliot.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class UsageTest {
  @TempDir
  private Path folder = Path.of("");

  private static final List<List<String>> COMMANDS = List.of(List.of(), List.of("server"), List.of("demo"),
      List.of("submit"), List.of("get"), List.of("cancel"), List.of("touch"), List.of("queues"),
      List.of("queues", "put"), List.of("queues", "get"), List.of("queues", "delete"), List.of("queues", "pause"),
      List.of("queues", "resume"), List.of("queues", "redrive"), List.of("queues", "set"),
      List.of("queues", "purge"), List.of("queues", "watch"), List.of("slots"), List.of("slots", "double"),
      List.of("tasks"), List.of("jobs"),
      List.of("jobs", "put"), List.of("jobs", "set"), List.of("jobs", "apply"), List.of("jobs", "export"),
      List.of("jobs", "list"), List.of("jobs", "get"), List.of("jobs", "next"),
      List.of("jobs", "runs"), List.of("jobs", "trigger"), List.of("jobs", "backfill"), List.of("jobs", "pause"),
      List.of("jobs", "resume"), List.of("jobs", "stop"), List.of("jobs", "delete"), List.of("jobs", "preview"),
      List.of("calendars"), List.of("calendars", "put"), List.of("calendars", "delete"), List.of("workers"),
      List.of("workers", "list"), List.of("workers", "enable"), List.of("workers", "disable"), List.of("cluster"),
      List.of("top"), List.of("bench"), List.of("doctor"), List.of("backup"), List.of("restore"), List.of("verify"),
      List.of("keys"),
      List.of("keys", "create"), List.of("keys", "delete"), List.of("run"), List.of("migrate"));

  private static Outcome run(String... words) {
    return Outcome.of(Map.of(), words);
  }

  private static Outcome run(List<String> words, String last) {
    String[] all = new String[words.size() + 1];
    words.toArray(all);
    all[words.size()] = last;
    return run(all);
  }

  @Test
  void commandsHaveHelpAndAVersion() {
    for (List<String> command : COMMANDS) {
      Outcome help = run(command, "--help");
      assertThat(help.exitCode()).as("%s", command).isEqualTo(ExitCode.OK);
      assertThat(help.out()).startsWith("Usage: foliot" + (command.isEmpty() ? "" : " " + String.join(" ", command)));
      assertThat(help.err()).isEmpty();
      Outcome version = run(command, "--version");
      assertThat(version.exitCode()).as("%s", command).isEqualTo(ExitCode.OK);
      assertThat(version.out()).startsWith("foliot ");
    }
  }

  @Test
  void helpBreaksNoUrl() {
    for (List<String> command : COMMANDS) {
      assertThat(run(command, "--help").out().lines()).as("%s", command)
          .noneMatch(line -> line.matches(".*(https?|redis|jdbc(:\\w+)?|zookeeper):/*"));
    }
  }

  @Test
  void examplesOfTheHelpFitAScreen() {
    for (List<String> command : COMMANDS) {
      assertThat(run(command, "--help").out().lines()).as("%s", command)
          .filteredOn(line -> line.startsWith("  foliot") || line.startsWith("  FOLIOT") || line.startsWith("    --"))
          .allSatisfy(line -> assertThat(line.length()).as(line).isLessThan(80));
    }
  }

  @Test
  void anOptionOfACommandBeforeTheCommandIsExplained() {
    Outcome outcome = run("--url", "http://127.0.0.1:1", "queues");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("write it after the command: foliot COMMAND --url");
  }

  @Test
  void wrongNumbersAndExclusiveOptionsAreExplainedLikeOtherMistakes() {
    assertThat(run("queues", "put", "q", "--pull", "--rate", "fast").err())
        .contains("--rate: expected a number from 0.001 to 1000000000, but got \"fast\"");
    assertThat(run("queues", "put", "q", "--pull", "--concurrency", "2.5").err())
        .contains("--concurrency: expected a whole number from 1 to 2147483647, but got \"2.5\"");
    assertThat(run("queues", "put", "q", "--pull", "--timeout", "48h").err())
        .isEqualTo("foliot: delivery.timeout: expected a duration from 1 ms to 24 h, but got 2d\n");
    assertThat(run("queues", "put", "q", "--pull", "--to", "http://127.0.0.1:1/").err())
        .contains("give only one of these: --to, --pull").doesNotContain("rror:");
  }

  @Test
  void valuesThatNoServerIsAskedAboutAreJudgedByTheCommand() {
    assertThat(run("demo", "--port", "99999").err())
        .contains("--port: expected a whole number from 1 to 65535, but got \"99999\"");
    assertThat(run("queues", "redrive", "q", "--limit", "0").err())
        .contains("--limit: expected a positive number, but got \"0\"");
    assertThat(run("jobs", "pause", "nightly", "--until", "tomorrow").err())
        .contains("--until: expected an instant such as", "or a duration such as \"2h\", but got \"tomorrow\"");
    assertThat(run("queues", "watch", "q", "--count", "0").err()).contains("--count: expected a positive number");
    assertThat(run("top", "--lines", "--count", "-1").err()).contains("--count: expected a positive number");
    assertThat(run("submit", "q", "--header", "trace").err())
        .contains("'--header': expected NAME=VALUE, but got \"trace\"");
    assertThat(run("queues", "purge", "q", "--state", "old").err())
        .contains("'--state': expected one of delayed, ready, running, but got \"old\"");
    assertThat(run("jobs", "pause", "nightly", "--all").err()).contains("not both");
    for (String url : List.of("http://", "http://a b", "http://[1")) {
      Outcome outcome = run("queues", "--url", url);
      assertThat(outcome.exitCode()).as(url).isEqualTo(ExitCode.USAGE);
      assertThat(outcome.err()).contains("expected a URL such as \"http://127.0.0.1:7400\", but got \"" + url + '"');
    }
  }

  @Test
  void aFileThatIsNotYamlIsExplained() throws IOException {
    Path file = Files.writeString(folder.resolve("jobs.yaml"), "jobs:\n- job: report\n\tqueue: billing\n");
    assertThat(run("jobs", "apply", "-f", file.toString()).err())
        .contains("a line is indented with a tab; YAML is indented with spaces: line=3");
    assertThat(run("jobs", "apply", "-f", "nofile.yaml").err()).contains("there is no file nofile.yaml");
  }

  @Test
  void theBeginningOfAnOptionIsUnderstood() {
    assertThat(run("queues", "put", "q", "--pull", "--prio", "3").err()).contains("did you mean --priority?");
    assertThat(run("explain", "order-7").err()).contains("foliot get ID --why");
  }

  @Test
  void aFolderAsAStoreNamesTheFormThatIsNeeded() {
    assertThat(run("migrate", "--from", "foliot-data", "--to", "redis://127.0.0.1:1").err())
        .contains("--from: expected rocksdb:DIR", "a data folder is written as rocksdb:foliot-data")
        .doesNotContain("--store");
  }

  @Test
  void theDoctorTakesTheOptionsOfTheServer() {
    String help = run("doctor", "--help").out();
    io.foliot.server.config.Option.all().forEach(option -> assertThat(help).contains("--" + option.flag()));
    assertThat(help).contains("--url");
  }

  @Test
  void theServerHasAnOptionForEachKeyOfTheConfiguration() {
    String help = run("server", "--help").out();
    io.foliot.server.config.Option.all().forEach(option -> assertThat(help).contains("--" + option.flag()));
    assertThat(help).contains("--config");
  }

  @Test
  void aMistypedCommandIsAUsageErrorThatNamesTheNearest() {
    Outcome outcome = run("submut");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("there is no command submut: did you mean submit?");
    assertThat(run("queues", "putt").err()).contains("there is no command putt: did you mean put?");
  }

  @Test
  void aWordOfAnotherToolNamesTheCommand() {
    assertThat(run("logs").err()).contains("the log of a task is in foliot get ID");
    assertThat(run("apply").err()).contains("foliot jobs apply -f FILE");
  }

  @Test
  void withoutACommandTheHelpListsAllCommands() {
    Outcome outcome = run();
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("Commands:", "server", "demo", "submit");
  }

  @Test
  void aMistypedOptionNamesTheNearest() {
    Outcome outcome = run("server", "--prot", "7401");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("server has no option --prot: did you mean --port?")
        .contains("foliot server --help");
  }

  @Test
  void invalidValuesAreUsageErrors() {
    assertThat(run("touch", "q", "k", "--delay", "5q").err()).contains("a duration such as");
    assertThat(run("touch", "q", "k", "--delay", "5q").exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(run("submit", "q", "--delay", "-5s").err()).contains("expected a duration such as");
    assertThat(run("submit", "q", "--at", "tomorrow").err()).contains("an instant such as");
    assertThat(run("submit", "q", "--payload", "{").exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(run("submit", "q", "--delay", "1s", "--at", "2026-11-21T09:30:00Z").exitCode())
        .isEqualTo(ExitCode.USAGE);
    assertThat(run("server", "--port", "x").err()).contains("--port: expected a whole number from 0 to 65535");
    assertThat(run("server", "--port", "x").exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(run("get").exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(run("get", "a", "b", "c").exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(run("queues", "--url", "ftp://x").exitCode()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void aStoreWhoseSlotsCannotDoubleIsRefused() {
    Outcome outcome = run("slots", "double", "--store", "memory");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("only a store in Redis can get more slots").contains("store=memory");
    assertThat(run("slots", "double", "--store", "jdbc:postgresql://u:p@127.0.0.1/x").exitCode())
        .isEqualTo(ExitCode.USAGE);
  }

  @Test
  void aQueueWithoutATargetNamesTheOptions() {
    Outcome outcome = run("queues", "put", "orders");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("--to URL").contains("--pull");
  }

  @Test
  void aJobWithoutAQueueNamesTheMissingOption() {
    Outcome outcome = run("jobs", "put", "report", "--every", "10m");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("--queue");
    assertThat(run("jobs", "put", "report", "--queue", "q", "--every", "1m", "--parameter", "{").err())
        .contains("--parameter: expected JSON");
  }

  @Test
  void workerCommandsNeedTheNameOfAWorker() {
    Outcome outcome = run("workers", "disable");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("WORKER").contains("foliot workers disable --help");
    assertThat(run("workers", "stop", "w").err()).contains("there is no command stop");
  }

  @Test
  void anUnreachableServerIsReportedWithTheRemedy() {
    Outcome outcome = run("queues", "--url", "http://127.0.0.1:1");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(outcome.err()).isEqualTo("foliot: nothing answers at http://127.0.0.1:1: start a server with ./foliot"
        + " server" + System.lineSeparator());
    assertThat(Outcome.of(Map.of("FOLIOT_URL", "http://127.0.0.1:1"), "get", "q", "k").err())
        .contains("nothing answers at http://127.0.0.1:1: start a server with ./foliot server");
  }
}
