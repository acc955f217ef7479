package io.foliot.cli;

import io.foliot.api.JobFields;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Changes some settings of a job. */
@Command(name = "set", description = "Changes the given settings of a job; the others stay as they are.", footer = {"",
    "Examples", "  foliot jobs set report --every 2h", "  foliot jobs set report --timeout 5m --unset overlap",
    "  foliot jobs set report --queue billing2"})
final class JobSetCommand implements Callable<Integer> {
  /** The kinds of a schedule, of which it has one, and the fields that only one kind has. */
  private static final List<String> KINDS = List.of("cron", "every", "after", "at");
  private static final List<String> OF_CRON = List.of("dialect", "dstGap", "dstOverlap");

  private final Shell shell;

  @Parameters(paramLabel = "JOB", description = "the job's name")
  private String job = "";

  @Option(names = "--queue", paramLabel = "QUEUE", description = "moves the job to another queue")
  private @Nullable String queue;

  private final FieldOptions options = new FieldOptions(JobFields.TABLE);

  @Mixin
  private final ServerOption server = new ServerOption();

  JobSetCommand(Shell shell) {
    this.shell = shell;
  }

  CommandSpec spec() {
    return options.addWithUnsetTo(CommandSpec.forAnnotatedObject(this));
  }

  @Override
  public Integer call() {
    ObjectNode patch = patch();
    String path = "/v1/jobs/" + ServerConnection.segment(job);
    SettingsDifference change;
    try (ServerConnection remote = server.open(shell)) {
      change = SettingsDifference.ofJob(remote, job, () -> remote.patch(path, patch.toString(), JobPutCommand.TIMEOUT));
    }
    shell.line(job + (change.isNew() || !change.lines().isEmpty() ? " is changed" : " is unchanged"));
    change.lines().forEach(shell::line);
    return ExitCode.OK;
  }

  /** Returns the change as a JSON merge patch (RFC 7396): a null resets a field to its default. */
  private ObjectNode patch() {
    ObjectNode patch = options.patch();
    if (queue != null) {
      patch.put("queue", queue);
    }
    if (patch.get("schedule") instanceof ObjectNode schedule) {
      replaceKind(schedule);
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
