package io.foliot.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Stands for what comes later, so that whoever looks for it learns that. */
@Command(name = "jobs", description = "Recurring jobs; they come with a later version.")
final class JobsCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw CommandException
        .failure("recurring jobs come with a later version; this one has one-shot tasks, and tasks that"
            + " their receiver repeats (the answer's header foliot-next: 30s)");
  }
}
