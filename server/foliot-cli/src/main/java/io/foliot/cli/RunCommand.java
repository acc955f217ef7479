package io.foliot.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Makes a task due at once. */
@Command(name = "run", description = "Makes a task due now, so that it fires at once.", footer = {"", "Examples",
    "  foliot run orders order-7", "  foliot run 0199f2a4-7c1e-7a53-8a3f-5f0d9c2b1e77"})
final class RunCommand implements Callable<Integer> {
  private final Shell shell;

  @Mixin
  private final TaskName task = new TaskName();

  @Mixin
  private final ServerOption server = new ServerOption();

  RunCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    String id;
    try (ServerConnection remote = server.open(shell)) {
      id = task.isId() ? task.id() : remote.call(client -> client.getByKey(task.queue(), task.key())).id();
      remote.run(client -> client.runNow(id));
    }
    shell.line(id + " is due now");
    return ExitCode.OK;
  }
}
