package io.foliot.cli;

import io.foliot.jobs.JobStatus;
import java.util.ArrayList;
import java.util.Comparator;
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
    "  foliot jobs put report --queue billing --cron \"0 2 * * *\"",
    "  foliot jobs runs report"})
final class JobsCommand implements Callable<Integer> {
  private final Shell shell;

  @Option(names = "--queue", paramLabel = "QUEUE", description = "only jobs of this queue")
  private @Nullable String queue;

  @Option(names = "--name", paramLabel = "TEXT", description = "only jobs whose names contain this text, in any case")
  private @Nullable String name;

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
        .addSubcommand(new JobPutCommand(shell).spec())
        .addSubcommand(new JobSetCommand(shell).spec())
        .addSubcommand(new JobApplyCommand(shell))
        .addSubcommand(new JobExportCommand(shell))
        .addSubcommand("list", list(shell))
        .addSubcommand(new JobActCommand.Get(shell))
        .addSubcommand(new JobActCommand.Next(shell))
        .addSubcommand(new JobActCommand.Runs(shell))
        .addSubcommand(new JobActCommand.Log(shell))
        .addSubcommand(new JobActCommand.Redrive(shell))
        .addSubcommand(new JobActCommand.Trigger(shell))
        .addSubcommand(new JobBackfillCommand(shell))
        .addSubcommand(new JobStateCommand.Pause(shell))
        .addSubcommand(new JobStateCommand.Resume(shell))
        .addSubcommand(new JobStateCommand.Rewind(shell))
        .addSubcommand(new JobActCommand.Stop(shell))
        .addSubcommand(new JobActCommand.Delete(shell))
        .addSubcommand(new JobPreviewCommand(shell).spec());
  }

  private static CommandLine list(Shell shell) {
    CommandLine list = new CommandLine(new JobsCommand(shell)).setCommandName("list");
    list.getCommandSpec().usageMessage().description("Lists recurring jobs.").footer();
    return list;
  }

  /**
   * Returns all jobs that the caller may see, page by page.
   *
   * @param queue the queue of the jobs, or null for all
   * @param state the state of the jobs, or null for all
   * @param name a text that the names contain, or null for all
   */
  static List<JsonView> read(ServerConnection remote, @Nullable String queue, JobStatus.@Nullable State state,
      @Nullable String name) {
    StringBuilder path = new StringBuilder("/v1/jobs?limit=1000");
    if (queue != null) {
      path.append("&queue=").append(ServerConnection.segment(queue));
    }
    if (state != null) {
      path.append("&state=").append(state);
    }
    if (name != null) {
      path.append("&name=").append(ServerConnection.segment(name));
    }
    List<JsonView> jobs = new ArrayList<>();
    String cursor = "";
    do {
      JsonView page = JsonView
          .parse(remote.get(path + (cursor.isEmpty() ? "" : "&cursor=" + ServerConnection.segment(cursor))));
      jobs.addAll(page.at("jobs").items());
      cursor = page.at("next").text("");
    } while (!cursor.isEmpty());
    jobs.sort(Comparator.comparing(job -> job.at("job").text()));
    return jobs;
  }

  @Override
  public Integer call() {
    Table table = new Table().left("job").left("queue").left("schedule").left("state").left("next").right("fired")
        .right("failed").right("skipped").right("missed");
    List<JsonView> jobs;
    try (ServerConnection remote = server.open(shell)) {
      jobs = read(remote, queue, state, name);
    }
    if (json.isSet()) {
      shell.line(JsonView.object("jobs", jobs));
      return ExitCode.OK;
    }
    jobs.forEach(job -> addRow(table, job));
    if (table.isEmpty()) {
      shell.line("there are no such jobs; ./foliot jobs put NAME --queue QUEUE --every 10m creates one");
    } else {
      table.print(shell);
    }
    return ExitCode.OK;
  }

  private static void addRow(Table table, JsonView job) {
    // The times of a job that is paused until it is resumed do not run.
    boolean isHeld = job.at("state").text().equals("PAUSED") && !job.at("pause", "until").exists();
    List<JsonView> next = isHeld ? List.of() : job.at("nextTimes").items();
    table.row(job.at("job").text(), job.at("queue").text(), schedule(job.at("schedule")), job.at("state").text(),
        next.isEmpty() ? "-" : next.getFirst().text(), job.at("totals", "fired").number(),
        job.at("totals", "failed").number(), job.at("totals", "skipped").number(),
        job.at("totals", "missed").number());
  }

  /** Returns a schedule as a short text, such as "every 10m" or "cron 0 2 * * * Europe/Berlin". */
  static String schedule(JsonView schedule) {
    String timing = List.of("cron", "every", "after", "at").stream().filter(kind -> schedule.at(kind).exists())
        .map(kind -> kind + " " + schedule.at(kind).text()).collect(Collectors.joining());
    return timing + " " + schedule.at("zone").text("UTC");
  }
}
