package io.foliot.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists queues. */
@Command(name = "queues", description = "Lists queues. The subcommands create and change queues.", synopsisSubcommandLabel = "[COMMAND]", commandListHeading = "%nCommands:%n", footer = {
    "", "Examples", "  foliot queues",
    "  foliot queues put orders --to http://127.0.0.1:8080/orders", "  foliot queues pause orders"})
final class QueuesCommand implements Callable<Integer> {
  private final Shell shell;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  private QueuesCommand(Shell shell) {
    this.shell = shell;
  }

  static CommandLine withSubcommands(Shell shell) {
    return new CommandLine(new QueuesCommand(shell))
        .addSubcommand(new QueuePutCommand(shell).spec())
        .addSubcommand(new QueueSetCommand(shell).spec())
        .addSubcommand(new QueueGetCommand(shell))
        .addSubcommand(new QueueActCommand.Delete(shell))
        .addSubcommand(new QueueActCommand.Pause(shell))
        .addSubcommand(new QueueActCommand.Resume(shell))
        .addSubcommand(new QueueRedriveCommand(shell))
        .addSubcommand(new QueuePurgeCommand(shell))
        .addSubcommand(new QueueWatchCommand(shell));
  }

  @Override
  public Integer call() {
    String answer;
    try (ServerConnection remote = server.open(shell)) {
      answer = remote.get("/v1/queues");
    }
    if (json.isSet()) {
      shell.line(answer);
      return ExitCode.OK;
    }
    List<JsonView> queues = JsonView.parse(answer).at("queues").items();
    if (queues.isEmpty()) {
      shell.line("there are no queues yet; ./foliot queues put NAME --to URL creates one");
      return ExitCode.OK;
    }
    Table table = table();
    queues.forEach(queue -> addRow(table, queue));
    table.print(shell);
    return ExitCode.OK;
  }

  private static Table table() {
    return new Table().left("QUEUE").right("DELAYED").right("PARKED").right("RUNNING").right("FINISHED").right("FAILED")
        .right("CANCELLED").right("PER SECOND").right("LAG").left("TO");
  }

  private static void addRow(Table table, JsonView queue) {
    JsonView stats = queue.at("stats");
    JsonView counts = stats.at("counts");
    table.row(queue.at("queue").text(), count(counts, "delayed"), count(counts, "parked"), count(counts, "running"),
        count(counts, "finished"), count(counts, "failed"), count(counts, "cancelled"),
        Words.count(stats.at("settledPerSecond").decimal()), Words.rough(stats.at("lag").text()), target(queue));
  }

  private static String count(JsonView counts, String state) {
    return Words.count(counts.at(state).decimal());
  }

  /** Returns the URL of a queue's delivery, else its type; the prefix "(paused)" marks a paused queue. */
  static String target(JsonView queue) {
    String url = queue.at("delivery", "url").text(queue.at("delivery", "type").text());
    return queue.at("paused").isTrue() ? "(paused) " + url : url;
  }
}
