package io.foliot.cli;

import io.foliot.client.BulkRedriveResult;
import io.foliot.server.config.Defaults;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Redrives dead letters: each gets a new generation, which is due now. */
@Command(name = "redrive", description = "Makes failed tasks of a queue due again.")
final class QueueRedriveCommand implements Callable<Integer> {
  private final Shell shell;

  @Parameters(index = "0", paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Parameters(index = "1..*", paramLabel = "ID", description = "only these tasks")
  private List<String> ids = new ArrayList<>();

  @Option(names = "--limit", paramLabel = "N", description = "maximum number of tasks to redrive; default: "
      + Defaults.REDRIVE)
  private @Nullable Integer limit;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  QueueRedriveCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (limit != null && !ids.isEmpty()) {
      throw CommandException.usage("a redrive takes ids or a --limit, not both");
    }
    CommandException.ensurePositive("--limit", limit);
    BulkRedriveResult result;
    try (ServerConnection remote = server.open(shell)) {
      result = remote.call(client -> ids.isEmpty()
          ? client.redrive(queue, limit == null ? Defaults.REDRIVE : limit)
          : client.redrive(queue, ids));
    }
    if (json.isSet()) {
      shell.line(new CommandOutput().add("redriven", result.redriven()).add("conflicts", result.conflicts())
          .add("more", result.more()).json());
      return ExitCode.OK;
    }
    shell.line(Words.number(result.redriven(), "failed task") + " will run again"
        + (result.more() ? "; there are more failed tasks" : ""));
    if (!result.conflicts().isEmpty()) {
      shell.line("not redriven, because their keys now have other live tasks: "
          + String.join(", ", result.conflicts()));
    }
    return ExitCode.OK;
  }
}
