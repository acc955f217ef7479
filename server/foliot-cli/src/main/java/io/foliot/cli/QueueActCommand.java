package io.foliot.cli;

import io.foliot.client.FoliotClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** A command with one argument, the name of a queue. */
abstract sealed class QueueActCommand implements Callable<Integer> {
  private final Shell shell;
  private final String done;

  @Parameters(paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Mixin
  private final ServerOption server = new ServerOption();

  private QueueActCommand(Shell shell, String done) {
    this.shell = shell;
    this.done = done;
  }

  abstract void act(FoliotClient client, String name);

  @Override
  public Integer call() {
    try (ServerConnection remote = server.open(shell)) {
      remote.run(client -> act(client, queue));
    }
    shell.line(queue + " " + done);
    return ExitCode.OK;
  }

  /** Deletes a queue. */
  @Command(name = "delete", description = "Deletes a queue that has no live tasks.")
  static final class Delete extends QueueActCommand {
    Delete(Shell shell) {
      super(shell, "is deleted");
    }

    @Override
    void act(FoliotClient client, String name) {
      client.deleteQueue(name);
    }
  }

  /** Pauses a queue. */
  @Command(name = "pause", description = "Pauses a queue: no more attempts begin; tasks can still be submitted.")
  static final class Pause extends QueueActCommand {
    Pause(Shell shell) {
      super(shell, "is paused");
    }

    @Override
    void act(FoliotClient client, String name) {
      client.pauseQueue(name);
    }
  }

  /** Resumes a queue. */
  @Command(name = "resume", description = "Resumes a paused queue.")
  static final class Resume extends QueueActCommand {
    Resume(Shell shell) {
      super(shell, "is resumed");
    }

    @Override
    void act(FoliotClient client, String name) {
      client.resumeQueue(name);
    }
  }
}
