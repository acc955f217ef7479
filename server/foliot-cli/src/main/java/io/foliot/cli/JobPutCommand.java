package io.foliot.cli;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Creates or replaces a job. */
@Command(name = "put", description = {
    "Creates a job, or replaces its definition, and shows its next times. The history of the job stays."}, footer = {
        "", "Examples", "  foliot jobs put report --queue billing --cron \"0 2 * * MON-FRI\" --zone Europe/Berlin",
        "  foliot jobs put sync --queue work --every 10m --overlap queue --timeout 5m",
        "  foliot jobs put scan --queue work --cron @hourly --shards 4 --shard-parameters eu,us,asia,africa"})
final class JobPutCommand implements Callable<Integer> {
  private static final Duration TIMEOUT = Duration.ofSeconds(35);

  private final Shell shell;

  @Parameters(paramLabel = "JOB", description = "the job's name")
  private String job = "";

  @Option(names = "--queue", paramLabel = "QUEUE", required = true, description = "the queue of the job's shards")
  private String queue = "";

  @Option(names = "--move", description = "moves a job that exists in another queue")
  private boolean move;

  @Mixin
  private final ScheduleOptions schedule = new ScheduleOptions();

  @Option(names = "--shards", paramLabel = "COUNT", description = "number of shards of a run")
  private @Nullable Integer shards;

  @Option(names = "--shard-parameters", paramLabel = "TEXT", split = ",", description = "a text for each shard")
  private List<String> shardParameters = List.of();

  @Option(names = "--overlap", paramLabel = "RULE", description = "rule for a time that comes while a run is active: skip, queue, replace or allow")
  private @Nullable String overlap;

  @Option(names = "--misfire", paramLabel = "POLICY", description = "rule for scheduled times that are found late: once, all or skip")
  private @Nullable String misfire;

  @Option(names = "--misfire-max", paramLabel = "COUNT", description = "with the policy all: how many late times run at most")
  private @Nullable Integer misfireMax;

  @Option(names = "--history", paramLabel = "COUNT", description = "how many entries of the history are kept; an entry is an ended run, or a range of times that did not run; 50 unless given")
  private @Nullable Integer history;

  @Option(names = "--window", paramLabel = "DURATION", description = "how late the run of a scheduled time may begin")
  private @Nullable String window;

  @Option(names = "--timeout", paramLabel = "DURATION", description = "how long a run may take")
  private @Nullable String timeout;

  @Option(names = "--parameter", paramLabel = "JSON", description = "the payload of each shard")
  private @Nullable String parameter;

  @Option(names = "--max-attempts", paramLabel = "COUNT", description = "attempts of a shard, instead of the queue's")
  private @Nullable Integer maxAttempts;

  @Option(names = "--pause-after-failures", paramLabel = "COUNT", description = "pauses the job after this many failed runs in a row")
  private @Nullable Integer pauseAfterFailures;

  @Option(names = "--scope", paramLabel = "SCOPE", description = "on how many workers a run runs: one, per-zone or all")
  private @Nullable String scope;

  @Option(names = "--allocation", paramLabel = "RULE", description = "how shards are divided among workers: average, free, odd-even, hash, round-robin or own")
  private @Nullable String allocation;

  @Option(names = "--allocator", paramLabel = "NAME", description = "with the allocation own: the function of the application that divides the shards, by its registered name")
  private @Nullable String allocator;

  @Option(names = "--zones", paramLabel = "ZONE", split = ",", description = "with the scope per-zone: the zones of a run, instead of all zones that have a worker")
  private List<String> zones = List.of();

  @Option(names = "--run-listeners", paramLabel = "PHASE", split = ",", description = "listeners of a run, each an extra task: before (the first shard), after (the last shard)")
  private List<String> runListeners = List.of();

  @Mixin
  private final ServerOption server = new ServerOption();

  JobPutCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.put("queue", queue);
    body.set("schedule", schedule.json());
    put(body, "shards", shards);
    if (!shardParameters.isEmpty()) {
      shardParameters.forEach(body.putArray("shardParameters")::add);
    }
    put(body, "overlap", overlap);
    if (misfire != null || window != null || misfireMax != null) {
      ObjectNode late = body.putObject("misfire");
      put(late, "policy", misfire);
      put(late, "window", window);
      put(late, "max", misfireMax);
    }
    put(body, "timeout", timeout);
    if (parameter != null) {
      body.set("parameter", JsonView.node(parameter, "--parameter"));
    }
    put(body, "maxAttempts", maxAttempts);
    put(body, "history", history);
    put(body, "pauseAfterFailures", pauseAfterFailures);
    put(body, "scope", scope);
    put(body, "allocation", allocation);
    put(body, "allocator", allocator);
    if (!zones.isEmpty()) {
      zones.forEach(body.putArray("zones")::add);
    }
    if (!runListeners.isEmpty()) {
      runListeners.forEach(body.putArray("runListeners")::add);
    }
    JsonView answer;
    try (ServerConnection remote = server.open(shell)) {
      answer = JsonView
          .parse(remote.put("/v1/jobs/" + ServerConnection.segment(job) + (move ? "?move=true" : ""), body.toString(),
              TIMEOUT));
    }
    shell.line(job + " is in place; its next times:");
    JobActCommand.times(shell, answer.at("nextTimes").items());
    return Foliot.OK;
  }

  private static void put(ObjectNode to, String name, @Nullable String value) {
    if (value != null) {
      to.put(name, value);
    }
  }

  private static void put(ObjectNode to, String name, @Nullable Integer value) {
    if (value != null) {
      to.put(name, value);
    }
  }
}
