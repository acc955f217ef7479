package io.foliot.cli;

import io.foliot.api.DurationText;
import io.foliot.api.InstantText;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Pauses, resumes or rewinds jobs: those that are named, or all jobs that the caller may see. */
abstract sealed class JobStateCommand implements Callable<Integer> {
  final Shell shell;

  @Parameters(paramLabel = "JOB", arity = "0..*", description = "names of jobs")
  private List<String> jobs = List.of();

  @Option(names = "--all", description = "all jobs, or all jobs of --queue")
  private boolean all;

  @Option(names = "--queue", paramLabel = "QUEUE", description = "with --all: only jobs of this queue")
  private @Nullable String queue;

  @Mixin
  private final ServerOption server = new ServerOption();

  private JobStateCommand(Shell shell) {
    this.shell = shell;
  }

  /** Changes one job. */
  abstract void act(ServerConnection remote, String path);

  /** Returns what a job is after the command. */
  abstract String state();

  @Override
  public Integer call() {
    if (all == !jobs.isEmpty()) {
      throw CommandException.usage(all ? "name the jobs or give --all, not both" : "name the jobs, or give --all");
    }
    if (queue != null && !all) {
      throw CommandException.usage("--queue is for --all: foliot jobs pause --all --queue " + queue);
    }
    int failed = 0;
    try (ServerConnection remote = server.open(shell)) {
      List<String> names = all
          ? JobsCommand.read(remote, queue, null, null).stream().map(job -> job.at("job").text()).toList()
          : jobs;
      if (names.isEmpty()) {
        shell.line("there are no such jobs");
      }
      for (String name : names) {
        try {
          act(remote, "/v1/jobs/" + ServerConnection.segment(name));
          shell.line(name + " is " + state());
        } catch (CommandException e) {
          if (names.size() == 1) {
            throw e;
          }
          // The other jobs are changed all the same; the exit code says that one was not.
          failed++;
          shell.error(name + " is unchanged: " + e.getMessage());
        }
      }
    }
    return failed == 0 ? ExitCode.OK : ExitCode.FAILURE;
  }

  /** Pauses jobs. */
  @Command(name = "pause", description = "Pauses jobs: their scheduled times do not run until they are resumed.", footer = {
      "", "Examples", "  foliot jobs pause report --until 2h --reason \"month end\"",
      "  foliot jobs pause --all --queue billing"})
  static final class Pause extends JobStateCommand {
    @Option(names = "--until", paramLabel = "TIME", description = "when the jobs resume by themselves: an instant, or a duration from now such as 2h")
    private @Nullable String until;

    @Option(names = "--reason", paramLabel = "TEXT", description = "the reason, which other users see")
    private @Nullable String reason;

    Pause(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path) {
      ObjectNode body = JsonNodeFactory.instance.objectNode();
      if (until != null) {
        body.put("until", instant(until));
      }
      if (reason != null) {
        body.put("reason", reason);
      }
      remote.post(path + "/pause", body.toString(), JobPutCommand.TIMEOUT);
    }

    @Override
    String state() {
      return "paused";
    }

    /** Returns an instant that is given as such, or as a duration from now. */
    private static String instant(String text) {
      try {
        return InstantText.format(Instant.now().plus(DurationText.parse(text)).toEpochMilli());
      } catch (IllegalArgumentException noDuration) {
        try {
          return InstantText.format(InstantText.parse(text).toEpochMilli());
        } catch (IllegalArgumentException e) {
          throw CommandException.usage("--until: expected an instant such as \"2026-11-21T09:30:00Z\", or a duration"
              + " such as \"2h\", but got \"" + text + '"');
        }
      }
    }
  }

  /** Resumes jobs. */
  @Command(name = "resume", description = "Resumes paused jobs. The scheduled times during the pause do not run.")
  static final class Resume extends JobStateCommand {
    Resume(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path) {
      remote.post(path + "/resume", "", JobPutCommand.TIMEOUT);
    }

    @Override
    String state() {
      return "resumed";
    }
  }

  /** Plans jobs again after the store's clock was ahead. */
  @Command(name = "rewind", description = "Plans jobs again after the store's clock was ahead: their times after now are decided when they come.")
  static final class Rewind extends JobStateCommand {
    Rewind(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path) {
      remote.post(path + "/rewind", "", JobPutCommand.TIMEOUT);
    }

    @Override
    String state() {
      return "planned again";
    }
  }
}
