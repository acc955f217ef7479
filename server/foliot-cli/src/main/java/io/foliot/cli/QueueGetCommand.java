package io.foliot.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Shows a queue. */
@Command(name = "get", description = "Shows a queue's settings and figures.")
final class QueueGetCommand implements Callable<Integer> {
  private final Shell shell;

  @Parameters(paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  QueueGetCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    String answer;
    try (ServerConnection remote = server.open(shell)) {
      answer = remote.get("/v1/queues/" + ServerConnection.segment(queue));
    }
    if (json.isSet()) {
      shell.line(answer);
      return ExitCode.OK;
    }
    CommandOutput lines = new CommandOutput();
    add(lines, "", JsonView.parse(answer));
    lines.print(shell, false);
    return ExitCode.OK;
  }

  private static void add(CommandOutput lines, String prefix, JsonView view) {
    for (String name : view.names()) {
      JsonView value = view.at(name);
      if (value.names().isEmpty()) {
        lines.add(prefix + name, value.text());
      } else {
        add(lines, prefix + name + ".", value);
      }
    }
  }
}
