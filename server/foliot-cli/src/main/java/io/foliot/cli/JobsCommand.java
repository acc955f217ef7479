package io.foliot.cli;

import io.foliot.jobs.JobStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists recurring jobs. */
@Command(name = "jobs", description = "Lists recurring jobs. The subcommands create and change jobs.", synopsisSubcommandLabel = "[COMMAND]", commandListHeading = "%nCommands:%n", footer = {
    "", "Examples", "  foliot jobs",
    "  foliot jobs put report --queue billing --cron \"0 2 * * *\" --zone Europe/Berlin",
    "  foliot jobs runs report"})
final class JobsCommand implements Callable<Integer> {
  private final Shell shell;

  @Option(names = "--queue", paramLabel = "QUEUE", description = "only jobs of this queue")
  private @Nullable String queue;

  @Option(names = "--state", paramLabel = "STATE", description = "only jobs in this state: active, paused, completed, error")
  private JobStatus.@Nullable State state;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  private JobsCommand(Shell shell) {
    this.shell = shell;
  }

  static CommandLine withSubcommands(Shell shell) {
    return new CommandLine(new JobsCommand(shell))
        .addSubcommand(new JobPutCommand(shell))
        .addSubcommand("list", new CommandLine(new JobsCommand(shell)).setCommandName("list"))
        .addSubcommand(new JobActCommand.Get(shell))
        .addSubcommand(new JobActCommand.Next(shell))
        .addSubcommand(new JobActCommand.Runs(shell))
        .addSubcommand(new JobActCommand.Trigger(shell))
        .addSubcommand(new JobBackfillCommand(shell))
        .addSubcommand(new JobActCommand.Pause(shell))
        .addSubcommand(new JobActCommand.Resume(shell))
        .addSubcommand(new JobActCommand.Rewind(shell))
        .addSubcommand(new JobActCommand.Stop(shell))
        .addSubcommand(new JobActCommand.Delete(shell))
        .addSubcommand(new JobPreviewCommand(shell));
  }

  @Override
  public Integer call() {
    StringBuilder path = new StringBuilder("/v1/jobs?limit=1000");
    if (queue != null) {
      path.append("&queue=").append(ServerConnection.segment(queue));
    }
    if (state != null) {
      path.append("&state=").append(state);
    }
    Table table = new Table().left("job").left("queue").left("schedule").left("state").left("next").right("fired")
        .right("failed").right("skipped").right("missed");
    List<JsonView> jobs = new ArrayList<>();
    try (ServerConnection remote = server.open(shell)) {
      String cursor = "";
      do {
        JsonView page = JsonView
            .parse(remote.get(path + (cursor.isEmpty() ? "" : "&cursor=" + ServerConnection.segment(cursor))));
        jobs.addAll(page.at("jobs").items());
        cursor = page.at("next").text("");
      } while (!cursor.isEmpty());
    }
    if (json.isSet()) {
      shell.line(JsonView.object("jobs", jobs));
      return Foliot.OK;
    }
    jobs.forEach(job -> addRow(table, job));
    if (table.isEmpty()) {
      shell.line("there are no such jobs; ./foliot jobs put NAME --queue QUEUE --every 10m creates one");
    } else {
      table.print(shell);
    }
    return Foliot.OK;
  }

  private static void addRow(Table table, JsonView job) {
    List<JsonView> next = job.at("nextTimes").items();
    table.row(job.at("job").text(), job.at("queue").text(), schedule(job.at("schedule")), job.at("state").text(),
        next.isEmpty() ? "-" : next.getFirst().text(), job.at("totals", "fired").number(),
        job.at("totals", "failed").number(), job.at("totals", "skipped").number(),
        job.at("totals", "missed").number());
  }

  /** Returns a schedule as a short text, such as "every 10m" or "cron 0 2 * * * Europe/Berlin". */
  static String schedule(JsonView schedule) {
    String timing = List.of("cron", "every", "after", "at").stream().filter(kind -> schedule.at(kind).exists())
        .map(kind -> kind + " " + schedule.at(kind).text()).collect(Collectors.joining());
    String zone = schedule.at("zone").text("Z");
    return zone.equals("Z") ? timing : timing + " " + zone;
  }
}
