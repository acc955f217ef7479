package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.TaskNote;
import io.foliot.backends.Await;
import io.foliot.client.FoliotClient;
import io.foliot.client.Settlement;
import io.foliot.client.Worker;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the commands of recurring jobs against a real server. */
final class JobCommandsTest {
  private static final Duration BOUND = Duration.ofSeconds(60);

  private final FoliotServer server = FoliotServer.start(
      FoliotConfig.load(Map.of("store", "memory", "port", "0"), Map.of(), null),
      new PrintStream(new ByteArrayOutputStream(), true, UTF_8));

  @BeforeEach
  void createQueue() {
    assertThat(run("queues", "put", "billing", "--pull").exitCode()).isEqualTo(ExitCode.OK);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @TempDir
  private Path folder = Path.of("");

  private Outcome run(String... words) {
    return Outcome.of(Map.of("FOLIOT_URL", server.url()), words);
  }

  private String output(String... words) {
    Outcome outcome = run(words);
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    return outcome.out();
  }

  private void putReport() {
    output("jobs", "put", "report", "--queue", "billing", "--cron", "0 2 1 1 *", "--zone", "Europe/Berlin",
        "--shards", "2", "--shard-parameters", "Beijing,Shanghai", "--parameter", "{\"kind\": \"daily\"}",
        "--misfire", "all", "--window", "6h", "--timeout", "2h", "--overlap", "queue");
  }

  private static String firstWord(String line) {
    return line.substring(0, line.indexOf(' '));
  }

  @Test
  void aJobIsPutWithItsScope() {
    output("jobs", "put", "zones", "--queue", "billing", "--cron", "0 2 1 1 *", "--scope", "per-zone", "--zones",
        "fra1,nyc1", "--allocation", "round-robin");
    assertThat(output("jobs", "get", "zones")).contains("scope     per-zone in fra1, nyc1, allocation round-robin\n",
        "0 without workers");
    assertThat(output("jobs", "get", "zones", "--json")).contains("\"zones\":[\"fra1\",\"nyc1\"]");
  }

  @Test
  void aJobIsPutWithAnAllocatorOfTheApplication() {
    output("jobs", "put", "regions", "--queue", "billing", "--cron", "0 2 1 1 *", "--shards", "2", "--allocation",
        "own", "--allocator", "by-region");
    assertThat(output("jobs", "get", "regions")).contains("scope     one, allocation own by by-region",
        "its allocator, which this node does not have");
    assertThat(run("jobs", "put", "regions", "--queue", "billing", "--cron", "0 2 1 1 *", "--allocator", "by-region")
        .err()).contains("allocator: expected none, unless the allocation is own");
  }

  @Test
  void aJobIsPutWithListenersOfItsRuns() {
    output("jobs", "put", "report", "--queue", "billing", "--cron", "0 2 1 1 *", "--run-listeners", "before,after");
    assertThat(output("jobs", "get", "report")).contains("listeners before, after its shards");
    String time = output("jobs", "trigger", "report").strip().replace("report runs for ", "");
    Await.until("the run is active", BOUND, () -> output("jobs", "runs", "report").contains("RUNNING"));
    output("jobs", "stop", "report", time);
    assertThat(run("jobs", "put", "report", "--queue", "billing", "--every", "1m", "--run-listeners", "during").err())
        .contains("runListeners", "before, after, or both");
  }

  @Test
  void aJobIsPutShownListedAndDeleted() {
    assertThat(output("jobs")).contains("there are no such jobs");
    putReport();
    assertThat(output("jobs", "list")).contains("report", "billing", "cron 0 2 1 1 * Europe/Berlin", "ACTIVE");
    assertThat(output("jobs", "--queue", "billing", "--state", "active")).contains("report");
    assertThat(output("jobs", "--state", "paused")).doesNotContain("report");
    assertThat(JsonView.parse(output("jobs", "--json")).at("jobs").items()).hasSize(1);

    assertThat(output("jobs", "get", "report")).contains("report is ACTIVE", "shards    2", "misfire all within 6h",
        "overlap   queue");
    JsonView job = JsonView.parse(output("jobs", "get", "report", "--json"));
    assertThat(job.at("parameter", "kind").text()).isEqualTo("daily");
    assertThat(output("jobs", "next", "report", "--count", "2").lines()).hasSize(2)
        .allMatch(line -> line.contains("-01-01T02:00:00+01:00"));

    assertThat(output("jobs", "delete", "report")).contains("deleted");
    assertThat(run("jobs", "get", "report").err()).startsWith("foliot: ").contains("report");
  }

  @Test
  void aJobIsPausedResumedTriggeredStoppedAndBackfilled() {
    putReport();
    assertThat(output("jobs", "pause", "report", "--reason", "month end")).contains("paused");
    assertThat(output("jobs", "get", "report")).contains("PAUSED", "month end");
    output("jobs", "resume", "report");
    assertThat(output("jobs", "runs", "report")).contains("has not run yet");

    String time = output("jobs", "trigger", "report", "--parameter", "{\"kind\": \"rerun\"}").strip()
        .replace("report runs for ", "");
    Await.until("the run is active", BOUND, () -> output("jobs", "runs", "report").contains("RUNNING"));
    assertThat(output("jobs", "runs", "report")).contains(time);
    assertThat(output("jobs", "stop", "report", time)).contains(time);

    String range = output("jobs", "backfill", "report", "--from", "2024-12-31T00:00:00Z", "--to",
        "2025-01-02T00:00:00Z", "--dry-run");
    assertThat(range).contains("would run for", "2025-01-01T01:00:00.000Z");
    assertThat(output("jobs", "backfill", "report", "--from", "2024-12-31T00:00:00Z", "--to", "2025-01-02T00:00:00Z"))
        .contains("report runs for", "2025-01-01T01:00:00.000Z");
  }

  @Test
  void aPutReportsWhatItResets() {
    putReport();
    assertThat(output("jobs", "put", "report", "--queue", "billing", "--cron", "0 2 1 1 *")).contains("changed:",
        "  shards is 1, and was 2", "  schedule.zone is UTC, and was Europe/Berlin", "  timeout is not set, and was 2h",
        "foliot jobs set report");
    assertThat(output("jobs", "put", "report", "--queue", "billing", "--cron", "0 2 1 1 *"))
        .doesNotContain("changed:");
  }

  @Test
  void aSettingIsChangedAndTheOthersStay() {
    putReport();
    assertThat(output("jobs", "set", "report", "--timeout", "3h", "--unset", "overlap").lines()).containsExactly(
        "report is changed", "  overlap is skip, and was queue", "  timeout is 3h, and was 2h");
    JsonView job = JsonView.parse(output("jobs", "get", "report", "--json"));
    assertThat(job.at("shards").number()).isEqualTo(2);
    assertThat(job.at("misfire", "window").text()).isEqualTo("6h");
    assertThat(job.at("parameter", "kind").text()).isEqualTo("daily");

    output("jobs", "set", "report", "--every", "2h", "--misfire", "once");
    job = JsonView.parse(output("jobs", "get", "report", "--json"));
    assertThat(job.at("schedule", "every").text()).isEqualTo("2h");
    assertThat(job.at("schedule", "cron").exists()).isFalse();
    assertThat(job.at("schedule", "zone").text()).isEqualTo("Europe/Berlin");
    assertThat(job.at("misfire", "policy").text()).isEqualTo("once");
    assertThat(output("jobs", "set", "report", "--every", "2h")).isEqualToIgnoringNewLines("report is unchanged");

    assertThat(run("jobs", "set", "report").err()).contains("name at least one setting");
    assertThat(run("jobs", "set", "report", "--timeout", "1h", "--unset", "timeout").err())
        .contains("both set and unset");
    assertThat(run("jobs", "set", "report", "--unset", "colour").err()).contains("expected one of shards");
    assertThat(run("jobs", "set", "nobody", "--every", "1h").err()).contains("there is no job nobody");
    assertThat(run("jobs", "set", "report", "--queue", "nowhere").err()).contains("nowhere");
  }

  @Test
  void jobsOfAFileAreCreatedChangedAndKept() throws IOException {
    Path file = folder.resolve("jobs.yaml");
    Files.writeString(file, """
        jobs:
        - {job: a, queue: billing, schedule: {cron: 0 2 * * *, zone: Europe/Berlin}, shards: 3}
        - job: b
          queue: billing
          schedule: {every: 10m}
          parameter: {text: "1.0", number: 1.50}
        """);
    assertThat(output("jobs", "apply", "-f", file.toString()).lines()).containsExactly("a is created", "b is created");
    assertThat(output("jobs", "apply", "-f", file.toString()).lines()).containsExactly("a is unchanged",
        "b is unchanged");

    String exported = output("jobs", "export", "--queue", "billing");
    assertThat(exported).startsWith("jobs:").contains("zone: Europe/Berlin").doesNotContain("totals");
    Files.writeString(file, exported);
    assertThat(output("jobs", "apply", "-f", file.toString()).lines()).containsExactly("a is unchanged",
        "b is unchanged");

    Files.writeString(file, exported.replace("every: 10m", "every: 20m").replace("Europe/Berlin", "Europe/Berln"));
    Outcome outcome = run("jobs", "apply", "-f", file.toString());
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(outcome.out().lines()).containsExactly("b is changed");
    assertThat(outcome.err()).contains("a is refused", "Europe/Berlin");

    Files.writeString(file, "jobs: [{job: a}, {job: a}]");
    assertThat(run("jobs", "apply", "-f", file.toString()).err()).contains("the job a is there twice");
    Files.writeString(file, "- every 10m");
    assertThat(run("jobs", "apply", "-f", file.toString()).err()).contains("expected jobs such as {job: report");
    Files.writeString(file, "jobs: [");
    assertThat(run("jobs", "apply", "-f", file.toString()).err()).contains("is neither YAML nor JSON");
    assertThat(run("jobs", "apply", "-f", folder.resolve("none").toString()).err()).contains("there is no file");
  }

  @Test
  void allJobsOfAQueueArePausedAndResumed() {
    output("queues", "put", "other", "--pull");
    for (String job : List.of("a", "b", "c")) {
      output("jobs", "put", job, "--queue", job.equals("c") ? "other" : "billing", "--every", "1h");
    }
    assertThat(output("jobs", "pause", "--all", "--queue", "billing").lines()).containsExactly("a is paused",
        "b is paused");
    assertThat(output("jobs", "--state", "paused", "--name", "A").lines()).hasSize(2).last().asString()
        .startsWith("a ");
    assertThat(output("jobs", "resume", "--all").lines()).hasSize(3);
    Outcome partly = run("jobs", "pause", "a", "nobody", "c");
    assertThat(partly.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(partly.out().lines()).containsExactly("a is paused", "c is paused");
    assertThat(partly.err()).contains("nobody is unchanged");
    assertThat(run("jobs", "pause").err()).contains("name the jobs, or give --all");
    assertThat(run("jobs", "pause", "a", "--queue", "billing").err()).contains("--queue is for --all");
  }

  @Test
  void aTriggerWaitsForItsRun() {
    output("jobs", "put", "report", "--queue", "billing", "--cron", "0 2 1 1 *", "--max-attempts", "1");
    try (FoliotClient client = FoliotClient.builder(URI.create(server.url())).build();
        Worker worker = Worker.builder(client, "billing",
            task -> requireNonNull(task.payload()).toText().contains("fail")
                ? Settlement.fail("as asked")
                : Settlement.ack())
            .start()) {
      assertThat(worker).isNotNull();
      assertThat(output("jobs", "trigger", "report", "--parameter", "\"good\"", "--wait")).contains("report runs for",
          "report SUCCEEDED, 1 shards, 0 failed");
      Outcome failed = run("jobs", "trigger", "report", "--parameter", "\"fail\"", "--wait", "1m");
      assertThat(failed.exitCode()).isEqualTo(ExitCode.FAILURE);
      assertThat(failed.out()).contains("report FAILED, 1 shards, 1 failed");
    }
    assertThat(run("jobs", "trigger", "report", "--wait", "100ms").err()).contains("has not ended after 100ms");
    assertThat(output("jobs", "runs", "report", "--result", "failed").lines()).hasSize(2);
    assertThat(output("jobs", "runs", "report", "--limit", "1").lines()).hasSize(2);
    assertThat(run("jobs", "runs", "report", "--result", "good").err()).contains("expected one of RUNNING");
  }

  @Test
  void aScheduleIsPreviewedWithoutAJob() {
    assertThat(output("jobs", "preview", "--cron", "0 12 * * *", "--zone", "Asia/Tokyo", "--count", "3").lines())
        .hasSize(3).allMatch(line -> line.contains("T12:00:00+09:00"));
  }

  @Test
  void aCalendarIsPutExcludedListedAndDeleted() {
    assertThat(output("calendars")).contains("there are no calendars");
    String[] excluding = {"jobs", "put", "closed", "--queue", "billing", "--cron", "0 2 * * *", "--exclude",
        "holydays"};
    assertThat(run(excluding).err()).contains("but got \"holydays\"", "foliot calendars put creates one");
    assertThat(output("calendars", "put", "holidays", "SAT", "SUN", "12-25", "2027-03-26")).contains("in place");
    assertThat(output("calendars")).contains("holidays", "12-25", "2027-03-26");
    assertThat(run(excluding).err()).contains("but got \"holydays\"; known are holidays");
    output("jobs", "put", "report", "--queue", "billing", "--cron", "0 9 24-26 12 *", "--exclude", "holidays",
        "--misfire", "all", "--misfire-max", "7", "--history", "9", "--dst-gap", "skip", "--dst-overlap", "both");
    assertThat(output("jobs", "next", "report", "--count", "5")).doesNotContain("-12-25");
    JsonView job = JsonView.parse(output("jobs", "get", "report", "--json"));
    assertThat(job.at("misfire", "max").number()).isEqualTo(7);
    assertThat(job.at("history").number()).isEqualTo(9);
    assertThat(job.at("schedule", "dstGap").text()).isEqualTo("skip");
    assertThat(output("calendars", "delete", "holidays")).contains("deleted");
    assertThat(output("jobs", "get", "report")).contains("ERROR", "holidays");
    assertThat(run("calendars", "put", "bad", "SOMEDAY").err()).contains("SOMEDAY");
  }

  @Test
  void theServerNamesTheMistakeInAJob() {
    assertThat(run("jobs", "put", "report", "--queue", "billing", "--cron", "61 * * * *").err())
        .contains("61", "minute");
    assertThat(run("jobs", "put", "report", "--queue", "nowhere", "--every", "1m").err()).contains("nowhere");
    assertThat(run("jobs", "trigger", "nothing").exitCode()).isEqualTo(ExitCode.FAILURE);
  }

  @Test
  void aTimeThatWaitsForAZoneIsShown() {
    output("jobs", "put", "rates", "--queue", "billing", "--cron", "0 2 1 1 *", "--scope", "per-zone", "--zones",
        "mars");
    output("jobs", "trigger", "rates");
    assertThat(output("jobs", "get", "rates")).contains(", 1 waiting", "rates is ACTIVE: it waits");
  }

  @Test
  void aParameterThatIsNotJsonIsRefusedWithItsOption() {
    putReport();
    for (String wrong : new String[]{"{x", "1, \"until\": 2"}) {
      Outcome refused = run("jobs", "trigger", "report", "--parameter", wrong);
      assertThat(refused.exitCode()).as(refused.out()).isEqualTo(ExitCode.USAGE);
      assertThat(refused.err()).contains("--parameter: expected JSON");
    }
    assertThat(output("jobs", "runs", "report")).contains("has not run yet");
  }

  @Test
  void aScopeForWorkersIsRefusedForAQueueWithoutWorkers() {
    output("queues", "put", "calls", "--to", "http://127.0.0.1:1/x");
    Outcome refused = run("jobs", "put", "caches", "--queue", "calls", "--every", "1m", "--scope", "all");
    assertThat(refused.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(refused.err()).contains("scope: all is for queues whose tasks workers take", "queue calls");
    assertThat(run("jobs", "get", "caches").err()).contains("there is no job caches");
  }

  @Test
  void aCountOfShardsOutOfRangeIsRefused() {
    for (String shards : new String[]{"0", "-1", "10001"}) {
      Outcome refused = run("jobs", "put", "scan", "--queue", "billing", "--every", "1m", "--shards", shards);
      assertThat(refused.exitCode()).isEqualTo(ExitCode.FAILURE);
      assertThat(refused.err()).contains("shards: expected a whole number from 1 to 10000, but got " + shards);
    }
    assertThat(output("jobs")).contains("there are no such jobs");
  }

  @Test
  void anErrorAboutAMissingObjectNamesACommand() {
    putReport();
    assertThat(run("jobs", "stop", "report", "2026-01-01T00:00:00Z").err())
        .contains("no run of that time", "foliot jobs runs JOB").doesNotContain("/v1/");
    assertThat(run("jobs", "trigger", "nothing").err())
        .contains("there is no job nothing", "foliot jobs put nothing --queue QUEUE").doesNotContain("/v1/");
    assertThat(run("calendars", "delete", "nothing").err())
        .contains("there is no calendar nothing", "foliot calendars put nothing").doesNotContain("/v1/");
  }

  @Test
  void aFailedRunLeadsToItsLogAndItsTask() {
    output("jobs", "put", "bad", "--queue", "billing", "--cron", "0 2 1 1 *", "--max-attempts", "1");
    output("jobs", "trigger", "bad");
    try (FoliotClient client = FoliotClient.builder(URI.create(server.url())).build();
        Worker worker = Worker.builder(client, "billing", task -> Settlement.nack("no such table")
            .noting(new TaskNote(0.5, "", "row 7", "opened\nno such table"))).start()) {
      assertThat(worker).isNotNull();
      Await.until("the run has failed", BOUND, () -> output("jobs", "runs", "bad").contains("FAILED"));
    }
    String runs = output("jobs", "runs", "bad");
    String time = runs.lines().skip(1).findFirst().map(JobCommandsTest::firstWord).orElseThrow();
    assertThat(runs).contains("shard 0: no such table");
    assertThat(output("jobs", "get", "bad")).contains("latest failure: shard 0: no such table",
        "foliot jobs log bad " + time);
    String run = output("jobs", "runs", "bad", time, "--failed");
    assertThat(run).contains("FAILED", "no such table");
    assertThat(output("jobs", "log", "bad")).contains("shard 0: FAILED: no such table, task ",
        "  opened\n  no such table\n");
    String tasks = output("tasks", "--job", "bad");
    String id = tasks.lines().skip(1).findFirst().map(JobCommandsTest::firstWord).orElseThrow();
    assertThat(run).contains(id);
    assertThat(tasks.lines().findFirst().orElseThrow()).contains("JOB");
    assertThat(output("tasks", "billing", "--key", "none")).doesNotContain(id);
    assertThat(run("tasks").err()).contains("QUEUE");

    assertThat(run("jobs", "redrive", "bad", time, "--shard", "5").err()).contains("has not failed");
    assertThat(output("jobs", "redrive", "bad", time, "--shard", "0")).contains("runs again");
    assertThat(output("jobs", "runs", "bad", time)).contains("RUNNING", id);
  }
}
