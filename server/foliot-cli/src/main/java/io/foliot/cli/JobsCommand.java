package io.foliot.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Placeholder for a later feature: it says that recurring jobs are not available yet. */
@Command(name = "jobs", description = "Recurring jobs; they come with a later version.")
final class JobsCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw CommandException
        .failure("recurring jobs come with a later version; this one has one-shot tasks, and tasks that"
            + " their receiver repeats (the answer's header foliot-next: 30s)");
  }
}
