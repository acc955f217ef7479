package io.foliot.cli;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Runs scheduled times of the past. */
@Command(name = "backfill", description = "Runs the scheduled times of a range in the past, the oldest first.", footer = {
    "", "Example", "  foliot jobs backfill report --dry-run --from 2026-11-01T00:00:00Z \\",
    "    --to 2026-11-08T00:00:00Z"})
final class JobBackfillCommand implements Callable<Integer> {
  private static final Duration TIMEOUT = Duration.ofSeconds(35);

  private final Shell shell;

  @Parameters(paramLabel = "JOB", description = "the job's name")
  private String job = "";

  @Option(names = "--from", paramLabel = "INSTANT", required = true, description = "the first instant of the range")
  private String from = "";

  @Option(names = "--to", paramLabel = "INSTANT", required = true, description = "the first instant after the range")
  private String to = "";

  @Option(names = "--dry-run", description = "show the times, but run nothing")
  private boolean dryRun;

  @Mixin
  private final ServerOption server = new ServerOption();

  JobBackfillCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    ObjectNode body = JsonNodeFactory.instance.objectNode().put("from", from).put("to", to).put("dryRun", dryRun);
    JsonView answer;
    try (ServerConnection remote = server.open(shell)) {
      answer = JsonView.parse(remote.post("/v1/jobs/" + ServerConnection.segment(job) + "/backfill", body.toString(),
          TIMEOUT));
    }
    List<JsonView> times = answer.at("times").items();
    shell.line(dryRun ? job + " would run for:" : job + " runs for:");
    JobActCommand.times(shell, times);
    return ExitCode.OK;
  }
}
