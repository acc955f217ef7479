package io.foliot.cli;

import io.foliot.core.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
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
  /** Number of runs that the server returns at most. */
  private static final int MAX_RUNS = 1_000;
  /** Pause between two reads of a run that the command waits for. */
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

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
   * @return the exit code
   */
  abstract int act(ServerConnection remote, String path, String name);

  @Override
  public Integer call() {
    try (ServerConnection remote = server.open(shell)) {
      return act(remote, "/v1/jobs/" + ServerConnection.segment(job), job);
    }
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
    int act(ServerConnection remote, String path, String name) {
      String answer = remote.get(path);
      if (json.isSet()) {
        shell.line(answer);
        return Foliot.OK;
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
      shell.line(job.at("state").text().equals("PAUSED") && !job.at("pause", "until").exists()
          ? "next times, if it were resumed now:"
          : "next times:");
      times(shell, job.at("nextTimes").items());
      return Foliot.OK;
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
    int act(ServerConnection remote, String path, String name) {
      times(shell, JsonView.parse(remote.get(path + "/next?count=" + count)).at("times").items());
      return Foliot.OK;
    }
  }

  /** Shows the runs of a job. */
  @Command(name = "runs", description = "Shows the runs of a job, and the scheduled times that did not run, the newest first.")
  static final class Runs extends JobActCommand {
    @Mixin
    private final JsonOption json = new JsonOption();

    @Option(names = "--result", paramLabel = "RESULT", description = "only runs and times with this result, such as failed, running or missed")
    private @Nullable String wanted;

    @Option(names = "--limit", paramLabel = "N", description = "maximum number of lines; all that are kept unless given")
    private @Nullable Integer limit;

    Runs(Shell shell) {
      super(shell);
    }

    @Override
    int act(ServerConnection remote, String path, String name) {
      String answer = remote.get(path + "/runs?limit=" + (limit == null ? MAX_RUNS : limit)
          + (wanted == null ? "" : "&result=" + ServerConnection.segment(wanted.toUpperCase(Locale.ROOT))));
      if (json.isSet()) {
        shell.line(answer);
        return Foliot.OK;
      }
      Table table = new Table().left("time").right("times").left("origin").left("result").right("shards")
          .right("failed").left("ended");
      for (JsonView run : JsonView.parse(answer).at("runs").items()) {
        table.row(run.at("time").text(), run.at("count").exists() ? run.at("count").number() : 1L,
            run.at("origin").text(), result(run), run.at("shards").number(), run.at("failed").number(),
            run.at("endedAt").text("-"));
      }
      if (table.isEmpty()) {
        shell.line(wanted == null ? name + " has not run yet" : name + " has no such run");
      } else {
        table.print(shell);
        targets(shell, JsonView.parse(answer).at("runs").items());
      }
      return Foliot.OK;
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

    @Option(names = "--wait", arity = "0..1", fallbackValue = "1h", paramLabel = "TIME", converter = DurationConverter.class, description = "wait until the run has ended, at most this long, or an hour; the exit code is 1 unless it succeeded")
    private @Nullable Duration wait;

    Trigger(Shell shell) {
      super(shell);
    }

    @Override
    int act(ServerConnection remote, String path, String name) {
      ObjectNode body = JsonNodeFactory.instance.objectNode();
      if (parameter != null) {
        body.set("parameter", JsonView.node(parameter, "--parameter"));
      }
      JsonView answer = JsonView.parse(remote.post(path + "/trigger", body.toString(), JobPutCommand.TIMEOUT));
      List<JsonView> times = answer.at("times").items();
      times.forEach(time -> shell.line(name + " runs for " + time.text()));
      if (wait == null || times.isEmpty()) {
        return Foliot.OK;
      }
      Duration patience = wait;
      JsonView run = Progress.during(shell, name, progress -> ended(remote, path + "/runs/"
          + ServerConnection.segment(times.getFirst().text()), answer.at("origin").text(), patience, progress));
      if (!run.at("endedAt").exists()) {
        throw CommandException.failure("the run has not ended after " + DurationText.format(patience) + ": "
            + result(run) + "; foliot jobs runs " + name + " shows it");
      }
      shell.line(name + " " + result(run) + ", " + run.at("shards").number() + " shards, " + run.at("failed").number()
          + " failed");
      return run.at("result").text().equals("SUCCEEDED") ? Foliot.OK : Foliot.FAILURE;
    }

    /** Reads a run until it has ended or the time is over, and returns its last state. */
    private static JsonView ended(ServerConnection remote, String path, String origin, Duration patience,
        Consumer<String> progress) {
      long end = System.nanoTime() + patience.toNanos();
      while (true) {
        // A requested run may wait for its turn, and is then unknown here.
        JsonView run = JsonView.parse(remote.getIfAny(path)).at("runs").items().stream()
            .filter(each -> each.at("origin").text().equals(origin)).findFirst().orElse(JsonView.parse("{}"));
        if (run.at("endedAt").exists() || System.nanoTime() - end > 0) {
          return run;
        }
        progress.accept(run.at("result").exists()
            ? run.at("ended").number() + " of " + run.at("shards").number() + " shards have ended"
            : "it waits for its turn");
        LockSupport.parkNanos(POLL_NANOS);
      }
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
    int act(ServerConnection remote, String path, String name) {
      remote.post(path + "/runs/" + ServerConnection.segment(time) + "/stop", "", JobPutCommand.TIMEOUT);
      shell.line("the runs of " + time + " are being stopped");
      return Foliot.OK;
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
    int act(ServerConnection remote, String path, String name) {
      remote.delete(path + (cancelRuns ? "?runs=cancel" : ""));
      shell.line(name + " is deleted");
      return Foliot.OK;
    }
  }
}
