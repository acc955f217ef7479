package io.foliot.cli;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists the workers of the cluster. */
@Command(name = "workers", description = "Lists workers: processes that give a name when they claim tasks, and servers with handlers of their own.", synopsisSubcommandLabel = "[COMMAND]", commandListHeading = "%nCommands:%n", footer = {
    "", "Examples", "  foliot workers", "  foliot workers disable report-1a2b3c4d"})
final class WorkersCommand implements Callable<Integer> {
  private static final String PATH = "/v1/workers";

  private final Shell shell;

  @Option(names = "--gone", description = "also list workers that are gone but still have a seat; needs an API key for all queues")
  private boolean gone;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  private WorkersCommand(Shell shell) {
    this.shell = shell;
  }

  static CommandLine withSubcommands(Shell shell) {
    return new CommandLine(new WorkersCommand(shell))
        .addSubcommand(new CommandLine(new WorkersCommand(shell)).setCommandName("list"))
        .addSubcommand(new Enable(shell))
        .addSubcommand(new Disable(shell));
  }

  @Override
  public Integer call() {
    String answer;
    try (ServerConnection remote = server.open(shell)) {
      answer = remote.get(gone ? PATH + "?gone=true" : PATH);
    }
    if (json.isSet()) {
      shell.line(answer);
      return ExitCode.OK;
    }
    Table table = new Table().right("SEAT").left("WORKER").left("STATE").left("ZONE").left("NODE").left("QUEUES");
    JsonView.parse(answer).at("workers").items().forEach(worker -> table.row(worker.at("seat").number(),
        worker.at("worker").text(), worker.at("state").text(), worker.at("zone").text(""), worker.at("node").text(""),
        worker.at("queues").items().stream().map(JsonView::text).collect(Collectors.joining(" "))));
    if (table.isEmpty()) {
      shell.line("no workers are known; a worker is listed a second or two after its first claim with a name");
    } else {
      table.print(shell);
    }
    return ExitCode.OK;
  }

  /** Changes one worker. */
  abstract static sealed class Act implements Callable<Integer> {
    private static final Duration TIMEOUT = Duration.ofSeconds(35);

    private final Shell shell;
    /** Last segment of the path of the request. */
    private final String action;
    /** Rest of the line that reports success, after the worker's name. */
    private final String done;

    @Parameters(paramLabel = "WORKER", description = "the worker's name, as foliot workers lists it")
    private String worker = "";

    @Mixin
    private final JsonOption json = new JsonOption();

    @Mixin
    private final ServerOption server = new ServerOption();

    private Act(Shell shell, String action, String done) {
      this.shell = shell;
      this.action = action;
      this.done = done;
    }

    @Override
    public Integer call() {
      String answer;
      try (ServerConnection remote = server.open(shell)) {
        answer = remote.post(PATH + "/" + ServerConnection.segment(worker) + action, "{}", TIMEOUT);
      }
      shell.line(json.isSet() ? answer : worker + " " + done);
      return ExitCode.OK;
    }
  }

  /** Enables a worker, so that it receives tasks again. */
  @Command(name = "enable", description = "Enables a worker, so that it receives tasks again.")
  static final class Enable extends Act {
    Enable(Shell shell) {
      super(shell, "/enable", "is enabled");
    }
  }

  /** Disables a worker, so that it receives no more tasks. */
  @Command(name = "disable", description = "Disables a worker: it receives no more tasks until it is"
      + " enabled or its process ends. Running tasks are finished.")
  static final class Disable extends Act {
    Disable(Shell shell) {
      super(shell, "/disable",
          "is disabled: it receives no more tasks after at most two seconds, and finishes those that it runs");
    }
  }
}
