package io.foliot.cli;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Shows a job or changes its state. */
abstract sealed class JobActCommand implements Callable<Integer> {
  private static final Duration TIMEOUT = Duration.ofSeconds(35);

  final Shell shell;

  @Parameters(index = "0", paramLabel = "JOB", description = "the job's name")
  private String job = "";

  @Mixin
  private final ServerOption server = new ServerOption();

  private JobActCommand(Shell shell) {
    this.shell = shell;
  }

  /**
   * Performs the command.
   *
   * @param path the job's path in the API
   * @param name the job's name
   */
  abstract void act(ServerConnection remote, String path, String name);

  @Override
  public Integer call() {
    try (ServerConnection remote = server.open(shell)) {
      act(remote, "/v1/jobs/" + ServerConnection.segment(job), job);
    }
    return Foliot.OK;
  }

  /** Prints times, one per line. */
  static void times(Shell shell, List<JsonView> times) {
    if (times.isEmpty()) {
      shell.line("  none");
    }
    times.forEach(time -> shell.line("  " + time.text()));
  }

  /** Shows a job. */
  @Command(name = "get", description = "Shows a job: its definition, its state and the results of its scheduled times.")
  static final class Get extends JobActCommand {
    @Mixin
    private final JsonOption json = new JsonOption();

    Get(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path, String name) {
      String answer = remote.get(path);
      if (json.isSet()) {
        shell.line(answer);
        return;
      }
      JsonView job = JsonView.parse(answer);
      shell.line(name + " is " + job.at("state").text() + ": "
          + JsonView.parse(remote.get(path + "/explain")).at("reason").text());
      shell.line("  queue     " + job.at("queue").text());
      shell.line("  schedule  " + JobsCommand.schedule(job.at("schedule")));
      shell.line("  shards    " + job.at("shards").number());
      String zones = texts(job.at("zones"));
      String allocator = job.at("allocator").text("");
      shell.line("  scope     " + job.at("scope").text() + (zones.isEmpty() ? "" : " in " + zones) + ", allocation "
          + job.at("allocation").text() + (allocator.isEmpty() ? "" : " by " + allocator));
      shell.line(
          "  overlap   " + job.at("overlap").text() + ", misfire " + job.at("misfire", "policy").text() + " within "
              + job.at("misfire", "window").text());
      String listeners = texts(job.at("runListeners"));
      if (!listeners.isEmpty()) {
        shell.line("  listeners " + listeners + " its shards");
      }
      JsonView totals = job.at("totals");
      long waiting = job.at("waiting").number();
      shell
          .line("  times     " + totals.at("fired").number() + " fired, " + totals.at("skipped").number() + " skipped, "
              + totals.at("missed").number() + " missed, " + totals.at("paused").number() + " paused, "
              + totals.at("noTargets").number() + " without workers"
              + (waiting == 0 ? "" : ", " + waiting + " waiting"));
      shell.line("  runs      " + totals.at("succeeded").number() + " succeeded, " + totals.at("failed").number()
          + " failed, " + totals.at("stopped").number() + " stopped, " + totals.at("requested").number()
          + " requested");
      targets(shell, job.at("active").items());
      shell.line("next times:");
      times(shell, job.at("nextTimes").items());
    }
  }

  /** Shows the next scheduled times of a job. */
  @Command(name = "next", description = "Shows the next scheduled times of a job.")
  static final class Next extends JobActCommand {
    @Option(names = "--count", paramLabel = "COUNT", description = "number of times to show; 5 unless given")
    private int count = 5;

    Next(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path, String name) {
      times(shell, JsonView.parse(remote.get(path + "/next?count=" + count)).at("times").items());
    }
  }

  /** Shows the runs of a job. */
  @Command(name = "runs", description = "Shows the runs of a job, and the scheduled times that did not run, the newest first.")
  static final class Runs extends JobActCommand {
    @Mixin
    private final JsonOption json = new JsonOption();

    Runs(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path, String name) {
      String answer = remote.get(path + "/runs");
      if (json.isSet()) {
        shell.line(answer);
        return;
      }
      Table table = new Table().left("time").right("times").left("origin").left("result").right("shards")
          .right("failed").left("ended");
      for (JsonView run : JsonView.parse(answer).at("runs").items()) {
        table.row(run.at("time").text(), run.at("count").exists() ? run.at("count").number() : 1L,
            run.at("origin").text(), result(run), run.at("shards").number(), run.at("failed").number(),
            run.at("endedAt").text("-"));
      }
      if (table.isEmpty()) {
        shell.line(name + " has not run yet");
      } else {
        table.print(shell);
        targets(shell, JsonView.parse(answer).at("runs").items());
      }
    }
  }

  private static String texts(JsonView array) {
    return array.items().stream().map(JsonView::text).collect(Collectors.joining(", "));
  }

  /**
   * Returns the result of a run. Brackets show the phase of the run if it is a listener, and the listeners that failed.
   */
  private static String result(JsonView run) {
    String phase = run.at("phase").text("shards");
    String failed = texts(run.at("failedListeners"));
    return run.at("result").text() + (phase.equals("shards") ? "" : " (" + phase + ")")
        + (failed.isEmpty() ? "" : " (" + failed + " failed)");
  }

  /** Shows the targets of runs whose shards are bound to workers or zones. */
  private static void targets(Shell shell, List<JsonView> runs) {
    for (JsonView run : runs) {
      List<JsonView> targets = run.at("targets").items();
      if (!targets.isEmpty()) {
        shell.line("targets of the run of " + run.at("time").text() + ":");
        Table table = new Table().left("zone").right("seat").left("worker").left("shards").right("ended");
        targets.forEach(target -> table.row(target.at("zone").text("-"),
            target.at("seat").exists() ? target.at("seat").number() : "-", target.at("worker").text("-"),
            target.at("shards").text(), target.at("ended").number() + "/" + target.at("count").number()));
        table.print(shell);
      }
    }
  }

  /** Requests a run of a job now. */
  @Command(name = "trigger", description = "Requests a run of a job now.")
  static final class Trigger extends JobActCommand {
    @Option(names = "--parameter", paramLabel = "JSON", description = "the payload of this run instead of the job's parameter, as JSON")
    private @Nullable String parameter;

    Trigger(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path, String name) {
      ObjectNode body = JsonNodeFactory.instance.objectNode();
      if (parameter != null) {
        body.set("parameter", JsonView.node(parameter, "--parameter"));
      }
      JsonView answer = JsonView.parse(remote.post(path + "/trigger", body.toString(), TIMEOUT));
      answer.at("times").items().forEach(time -> shell.line(name + " runs for " + time.text()));
    }
  }

  /** Pauses a job. */
  @Command(name = "pause", description = "Pauses a job: its scheduled times do not run until it is resumed.")
  static final class Pause extends JobActCommand {
    @Option(names = "--until", paramLabel = "INSTANT", description = "when the job resumes by itself")
    private @Nullable String until;

    @Option(names = "--reason", paramLabel = "TEXT", description = "the reason, which other users see")
    private @Nullable String reason;

    Pause(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path, String name) {
      ObjectNode body = JsonNodeFactory.instance.objectNode();
      if (until != null) {
        body.put("until", until);
      }
      if (reason != null) {
        body.put("reason", reason);
      }
      remote.post(path + "/pause", body.toString(), TIMEOUT);
      shell.line(name + " is paused");
    }
  }

  /** Resumes a job. */
  @Command(name = "resume", description = "Resumes a paused job. The scheduled times during the pause do not run.")
  static final class Resume extends JobActCommand {
    Resume(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path, String name) {
      remote.post(path + "/resume", "", TIMEOUT);
      shell.line(name + " is resumed");
    }
  }

  /** Plans a job again after the store's clock was ahead. */
  @Command(name = "rewind", description = "Plans a job again after the store's clock was ahead.")
  static final class Rewind extends JobActCommand {
    Rewind(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path, String name) {
      remote.post(path + "/rewind", "", TIMEOUT);
      shell.line(name + " is planned again; the server's log says whether it was ahead of the store's clock");
    }
  }

  /** Stops the runs of one scheduled time. */
  @Command(name = "stop", description = "Stops the runs of one scheduled time.")
  static final class Stop extends JobActCommand {
    @Parameters(index = "1", paramLabel = "TIME", description = "the scheduled time, as foliot jobs runs shows it")
    private String time = "";

    Stop(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path, String name) {
      remote.post(path + "/runs/" + ServerConnection.segment(time) + "/stop", "", TIMEOUT);
      shell.line("the runs of " + time + " are being stopped");
    }
  }

  /** Deletes a job. */
  @Command(name = "delete", description = "Deletes a job. Active runs finish, unless --cancel-runs is given.")
  static final class Delete extends JobActCommand {
    @Option(names = "--cancel-runs", description = "cancel the active runs too")
    private boolean cancelRuns;

    Delete(Shell shell) {
      super(shell);
    }

    @Override
    void act(ServerConnection remote, String path, String name) {
      remote.delete(path + (cancelRuns ? "?runs=cancel" : ""));
      shell.line(name + " is deleted");
    }
  }
}
