package io.foliot.cli;

import io.foliot.api.JobFields;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/** Creates or replaces a job. */
@Command(name = "put", description = {
    "Creates a job, or replaces its definition, and shows its next times. A setting that is not given gets its default;"
        + " a line reports each change. The history of the job stays."}, footer = {
            "", "Examples", "  foliot jobs put report --queue billing --cron \"0 2 * * MON-FRI\" \\",
            "    --zone Europe/Berlin",
            "  foliot jobs put sync --queue work --every 10m --overlap queue --timeout 5m",
            "  foliot jobs put scan --queue work --cron @hourly --shards 4 \\",
            "    --shard-parameters eu,us,asia,africa"})
final class JobPutCommand implements Callable<Integer> {
  static final Duration TIMEOUT = Duration.ofSeconds(35);

  private final Shell shell;

  @Parameters(paramLabel = "JOB", description = "the job's name")
  private String job = "";

  @Option(names = "--queue", paramLabel = "QUEUE", required = true, description = "the queue of the job's shards")
  private String queue = "";

  @Option(names = "--move", description = "moves a job that exists in another queue")
  private boolean move;

  private final FieldOptions options = new FieldOptions(JobFields.TABLE);

  @Mixin
  private final ServerOption server = new ServerOption();

  JobPutCommand(Shell shell) {
    this.shell = shell;
  }

  CommandSpec spec() {
    return options.addTo(CommandSpec.forAnnotatedObject(this));
  }

  @Override
  public Integer call() {
    ObjectNode body = options.json();
    body.put("queue", queue);
    if (!body.has("schedule")) {
      body.putObject("schedule");
    }
    String path = "/v1/jobs/" + ServerConnection.segment(job);
    SettingsDifference change;
    try (ServerConnection remote = server.open(shell)) {
      change = SettingsDifference.ofJob(remote, job,
          () -> remote.put(path + (move ? "?move=true" : ""), body.toString(), TIMEOUT));
    }
    // A key without the action read does not get the times.
    boolean showsTimes = change.after().at("nextTimes").exists();
    shell.line(job + " is in place" + (showsTimes ? "; its next times:" : ""));
    if (showsTimes) {
      JobActCommand.times(shell, change.after().at("nextTimes").items());
    }
    if (!change.isNew() && !change.lines().isEmpty()) {
      shell.line("changed:");
      change.lines().forEach(shell::line);
      shell.line("  (to change single settings: foliot jobs set " + job + ")");
    }
    return ExitCode.OK;
  }
}
