package io.foliot.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Changes some settings of a job. */
@Command(name = "set", description = "Changes the given settings of a job; the others stay as they are.", footer = {"",
    "Examples", "  foliot jobs set report --every 2h", "  foliot jobs set report --timeout 5m --unset overlap",
    "  foliot jobs set report --queue billing2"})
final class JobSetCommand implements Callable<Integer> {
  /** Names of the settings that can be reset to their defaults, and their fields in the API. */
  private static final Map<String, String> FIELDS = Map.ofEntries(Map.entry("shards", "shards"),
      Map.entry("shard-parameters", "shardParameters"), Map.entry("overlap", "overlap"),
      Map.entry("misfire", "misfire"), Map.entry("timeout", "timeout"), Map.entry("parameter", "parameter"),
      Map.entry("max-attempts", "maxAttempts"), Map.entry("history", "history"),
      Map.entry("pause-after-failures", "pauseAfterFailures"), Map.entry("scope", "scope"),
      Map.entry("allocation", "allocation"), Map.entry("allocator", "allocator"), Map.entry("zones", "zones"),
      Map.entry("run-listeners", "runListeners"));
  private static final String WORDS = "shards, shard-parameters, overlap, misfire, timeout, parameter, max-attempts,"
      + " history, pause-after-failures, scope, allocation, allocator, zones, run-listeners";
  /** The kinds of a schedule, of which it has one, and the fields that only one kind has. */
  private static final List<String> KINDS = List.of("cron", "every", "after", "at");
  private static final List<String> OF_CRON = List.of("dialect", "dstGap", "dstOverlap");

  private final Shell shell;

  @Parameters(paramLabel = "JOB", description = "the job's name")
  private String job = "";

  @Option(names = "--queue", paramLabel = "QUEUE", description = "moves the job to another queue")
  private @Nullable String queue;

  @Mixin
  private final JobOptions options = new JobOptions();

  @Option(names = "--unset", paramLabel = "SETTING", split = ",", description = "resets settings to their defaults: "
      + WORDS)
  private List<String> unset = new ArrayList<>();

  @Mixin
  private final ServerOption server = new ServerOption();

  JobSetCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    ObjectNode patch = patch();
    String path = "/v1/jobs/" + ServerConnection.segment(job);
    SettingsDifference change;
    try (ServerConnection remote = server.open(shell)) {
      remote.get(path);
      change = SettingsDifference.ofJob(remote, job, () -> remote.patch(path, patch.toString(), JobPutCommand.TIMEOUT));
    }
    shell.line(job + (change.lines().isEmpty() ? " is unchanged" : " is changed"));
    change.lines().forEach(shell::line);
    return Foliot.OK;
  }

  /** Returns the change as a JSON merge patch (RFC 7396): a null resets a field to its default. */
  private ObjectNode patch() {
    ObjectNode patch = options.json();
    if (queue != null) {
      patch.put("queue", queue);
    }
    if (patch.get("schedule") instanceof ObjectNode schedule) {
      replaceKind(schedule);
    }
    for (String word : unset) {
      String field = FIELDS.get(word);
      if (field == null) {
        throw CommandException.usage("--unset: expected one of " + WORDS + ", but got \"" + word + "\"");
      }
      if (patch.has(field)) {
        throw CommandException.usage(word + " is both set and unset");
      }
      patch.putNull(field);
    }
    if (patch.isEmpty()) {
      throw CommandException.usage("name at least one setting to change, such as --every 2h or --unset timeout");
    }
    return patch;
  }

  /** Removes the kind of schedule that a new kind replaces; zone, limits, calendars and jitter stay. */
  private static void replaceKind(ObjectNode schedule) {
    JsonNode cron = schedule.get("cron");
    if (KINDS.stream().anyMatch(schedule::has)) {
      KINDS.stream().filter(kind -> !schedule.has(kind)).forEach(schedule::putNull);
      if (!schedule.has("every")) {
        schedule.putNull("offset");
      }
      if (cron == null) {
        OF_CRON.stream().filter(field -> !schedule.has(field)).forEach(schedule::putNull);
      }
    }
  }
}
