package io.foliot.cli;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The definition of a job on the command line, except for its queue. The server checks it, and reports mistakes. */
final class JobOptions {
  @Mixin
  private final ScheduleOptions schedule = new ScheduleOptions();

  @Option(names = "--shards", paramLabel = "COUNT", description = "number of shards of a run; default: 1")
  private @Nullable Integer shards;

  @Option(names = "--shard-parameters", paramLabel = "TEXT", split = ",", description = "a text for each shard")
  private List<String> shardParameters = List.of();

  @Option(names = "--overlap", paramLabel = "RULE", description = "rule for a time that comes while a run is active: skip, queue, replace or allow; default: skip")
  private @Nullable String overlap;

  @Option(names = "--misfire", paramLabel = "POLICY", description = "rule for scheduled times that are found late: once, all or skip; default: once")
  private @Nullable String misfire;

  @Option(names = "--misfire-max", paramLabel = "COUNT", description = "with the policy all: how many late times run at most")
  private @Nullable Integer misfireMax;

  @Option(names = "--history", paramLabel = "COUNT", description = "how many entries of the history are kept; an entry is an ended run, or a range of times that did not run; default: 50")
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

  @Option(names = "--scope", paramLabel = "SCOPE", description = "on how many workers a run runs: one, per-zone or all; default: one")
  private @Nullable String scope;

  @Option(names = "--allocation", paramLabel = "RULE", description = "how shards are divided among workers: average, free, odd-even, hash, round-robin or own")
  private @Nullable String allocation;

  @Option(names = "--allocator", paramLabel = "NAME", description = "with the allocation own: the function of the application that divides the shards, by its registered name")
  private @Nullable String allocator;

  @Option(names = "--zones", paramLabel = "ZONE", split = ",", description = "with the scope per-zone: the zones of a run, instead of all zones that have a worker")
  private List<String> zones = List.of();

  @Option(names = "--run-listeners", paramLabel = "PHASE", split = ",", description = "listeners of a run, each an extra task: before (the first shard), after (the last shard)")
  private List<String> runListeners = List.of();

  /** Returns the definition as the API expects it; fields that are not given are absent. */
  ObjectNode json() {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    ObjectNode times = schedule.json();
    if (!times.isEmpty()) {
      body.set("schedule", times);
    }
    put(body, "shards", shards);
    put(body, "shardParameters", shardParameters);
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
    put(body, "zones", zones);
    put(body, "runListeners", runListeners);
    return body;
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

  private static void put(ObjectNode to, String name, List<String> values) {
    if (!values.isEmpty()) {
      values.forEach(to.putArray(name)::add);
    }
  }
}
