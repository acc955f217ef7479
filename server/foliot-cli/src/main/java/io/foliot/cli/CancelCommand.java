package io.foliot.cli;

import io.foliot.api.Cancellation;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Cancels a task. */
@Command(name = "cancel", description = "Cancels a task.", footer = {"", "Results",
    "  CANCELLED         no attempt begins any more",
    "  CANCEL_PENDING    an attempt is running and may still deliver the task; no new attempt begins",
    "  ALREADY_FINISHED  the task had ended before (exit code 1, as for an unknown task)", "",
    "Examples", "  foliot cancel orders order-7", "  foliot cancel 0199f2a4-7c1e-7a53-8a3f-5f0d9c2b1e77"})
final class CancelCommand implements Callable<Integer> {
  private final Shell shell;

  @Mixin
  private final TaskName task = new TaskName();

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  CancelCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    try (ServerConnection remote = server.open(shell)) {
      Cancellation result = task.isId()
          ? remote.call(client -> client.cancel(task.id()))
          : remote.call(client -> client.cancelByKey(task.queue(), task.key()));
      shell.line(json.isSet() ? new CommandOutput().add("result", result).json() : result.name());
      return result == Cancellation.CANCELLED || result == Cancellation.CANCEL_PENDING ? ExitCode.OK : ExitCode.FAILURE;
    }
  }
}
