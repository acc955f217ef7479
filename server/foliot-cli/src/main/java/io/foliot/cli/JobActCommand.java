package io.foliot.cli;

import io.foliot.api.DurationText;
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
  /** Number of shards whose logs are shown unless the caller sets another number. */
  private static final int DEFAULT_LOGS = 10;
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
        return ExitCode.OK;
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
      if (job.at("latestFailure").exists()) {
        String time = job.at("latestFailure", "time").text();
        shell.line(
            "latest failure: " + Shell.plain(job.at("latestFailure", "reason").text()) + " (run of " + time + ")");
        shell.line("  foliot jobs log " + name + " " + time + " shows its log");
      }
      targets(shell, job.at("active").items());
      shell.line(job.at("state").text().equals("PAUSED") && !job.at("pause", "until").exists()
          ? "next times, if it were resumed now:"
          : "next times:");
      times(shell, job.at("nextTimes").items());
      return ExitCode.OK;
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
      return ExitCode.OK;
    }
  }

  /** Shows the runs of a job, or one run with its shards. */
  @Command(name = "runs", description = {
      "Shows the runs of a job, and the scheduled times that did not run, the newest first.",
      "With a time: shows the shards of the run of that time, with their tasks and the reasons of their failures."})
  static final class Runs extends JobActCommand {
    @Parameters(index = "1", arity = "0..1", paramLabel = "TIME", description = "the scheduled time of a run, to show its shards")
    private @Nullable String time;

    @Mixin
    private final JsonOption json = new JsonOption();

    @Option(names = "--result", paramLabel = "RESULT", description = "only runs and times with this result, such as failed, running or missed")
    private @Nullable String wanted;

    @Option(names = "--failed", description = "with TIME: only shards that failed or were cancelled")
    private boolean onlyFailed;

    @Option(names = "--limit", paramLabel = "N", description = "maximum number of lines; all that are kept unless given")
    private @Nullable Integer limit;

    Runs(Shell shell) {
      super(shell);
    }

    @Override
    int act(ServerConnection remote, String path, String name) {
      if (time != null) {
        if (wanted != null) {
          throw CommandException.usage("--result is for the list of runs; with a time, --failed shows failed shards");
        }
        return one(remote, path, name, time);
      }
      if (onlyFailed) {
        throw CommandException.usage("--failed needs the time of a run; --result failed lists the failed runs");
      }
      String answer = remote.get(path + "/runs?limit=" + (limit == null ? MAX_RUNS : limit)
          + (wanted == null ? "" : "&result=" + ServerConnection.segment(wanted.toUpperCase(Locale.ROOT))));
      if (json.isSet()) {
        shell.line(answer);
        return ExitCode.OK;
      }
      List<JsonView> runs = JsonView.parse(answer).at("runs").items();
      if (runs.isEmpty()) {
        shell.line(wanted == null ? name + " has not run yet" : name + " has no such run");
      } else {
        table(shell, runs);
        targets(shell, runs);
      }
      return ExitCode.OK;
    }

    private int one(ServerConnection remote, String path, String name, String of) {
      String page = path + "/runs/" + ServerConnection.segment(of) + "?limit=" + Math.min(MAX_RUNS, limit())
          + (onlyFailed ? "&failed=true" : "");
      String answer = remote.get(page);
      if (json.isSet()) {
        shell.line(answer);
        return ExitCode.OK;
      }
      JsonView view = JsonView.parse(answer);
      table(shell, view.at("runs").items());
      Table table = new Table().left("shard").left("state").right("attempt").left("worker").left("node").left("begun")
          .left("ended").left("task").left("reason");
      int shown = 0;
      for (String next = rows(view, table); !next.isEmpty()
          && (shown += MAX_RUNS) < limit(); next = rows(view, table)) {
        view = JsonView.parse(remote.get(page + "&cursor=" + ServerConnection.segment(next)));
      }
      if (!table.isEmpty()) {
        table.print(shell);
        shell.line("foliot jobs log " + name + " " + of + " shows the logs; foliot get TASK shows a task");
      } else if (onlyFailed) {
        shell.line("no shard of it failed");
      }
      return ExitCode.OK;
    }

    private int limit() {
      return limit == null ? Integer.MAX_VALUE : limit;
    }

    /** Adds the shards of a page to a table, and returns the cursor of the next page, or an empty text. */
    private static String rows(JsonView page, Table table) {
      for (JsonView shard : page.at("shards").items()) {
        table.row(shardName(shard), shard.at("state").text(),
            shard.at("attempt").exists() ? shard.at("attempt").number() : "-", shard.at("worker").text("-"),
            shard.at("node").text("-"), shard.at("begunAt").text("-"), shard.at("endedAt").text("-"),
            shard.at("task").text("-"), shard.at("reason").text(""));
      }
      return page.at("next").text("");
    }

    private static void table(Shell shell, List<JsonView> runs) {
      Table table = new Table().left("time").right("times").left("origin").left("result").right("shards")
          .right("failed").left("ended").left("reason");
      for (JsonView run : runs) {
        table.row(run.at("time").text(), run.at("count").exists() ? run.at("count").number() : 1L,
            run.at("origin").text(), result(run), run.at("shards").number(), run.at("failed").number(),
            run.at("endedAt").text("-"), run.at("reason").text(""));
      }
      table.print(shell);
    }
  }

  /** Returns the name of a shard or listener of a run: "3", "eu/3", "before" or "after". */
  private static String shardName(JsonView shard) {
    String phase = shard.at("phase").text("");
    String zone = shard.at("zone").text("");
    return phase.isEmpty() ? (zone.isEmpty() ? "" : zone + "/") + shard.at("shard").number() : phase;
  }

  /** Shows the logs of a run. */
  @Command(name = "log", description = "Shows the logs of the shards of a run, those of failed shards first.")
  static final class Log extends JobActCommand {
    @Parameters(index = "1", arity = "0..1", paramLabel = "TIME", description = "the scheduled time of the run; the latest run unless given")
    private @Nullable String time;

    @Option(names = "--limit", paramLabel = "N", description = "maximum number of shards; 10 unless given")
    private @Nullable Integer limit;

    @Mixin
    private final JsonOption json = new JsonOption();

    Log(Shell shell) {
      super(shell);
    }

    @Override
    int act(ServerConnection remote, String path, String name) {
      String answer = remote.get(path + "/log?limit=" + (limit == null ? DEFAULT_LOGS : limit)
          + (time == null ? "" : "&time=" + ServerConnection.segment(time)));
      if (json.isSet()) {
        shell.line(answer);
        return ExitCode.OK;
      }
      JsonView log = JsonView.parse(answer);
      List<JsonView> shards = log.at("shards").items();
      if (shards.isEmpty()) {
        shell.line("the run of " + log.at("time").text() + " has no log");
      }
      for (JsonView shard : shards) {
        String reason = shard.at("reason").text("");
        shell.line("run of " + log.at("time").text() + ", "
            + (shard.at("phase").exists() ? "listener " : "shard ") + shardName(shard) + ": " + shard.at("state").text()
            + (reason.isEmpty() ? "" : ": " + Shell.plain(reason)) + ", task " + shard.at("task").text("-"));
        shard.at("log").text("").lines().forEach(line -> shell.line("  " + Shell.plain(line.replace("\t", "  "))));
      }
      if (log.at("more").isTrue()) {
        shell.error("(there may be more; a larger --limit shows them)");
      }
      return ExitCode.OK;
    }
  }

  /** Runs a failed shard of a run again. */
  @Command(name = "redrive", description = {
      "Runs a failed shard of a run again, with the same payload and from its last checkpoint.",
      "The result of the run then follows from all its shards."})
  static final class Redrive extends JobActCommand {
    @Parameters(index = "1", paramLabel = "TIME", description = "the scheduled time, as foliot jobs runs shows it")
    private String time = "";

    @Option(names = "--shard", required = true, paramLabel = "N", description = "the number of the shard, as foliot jobs runs JOB TIME shows it")
    private int shard;

    @Option(names = "--zone", paramLabel = "ZONE", description = "the zone of the shard, if it has one")
    private @Nullable String zone;

    @Option(names = "--origin", paramLabel = "ORIGIN", description = "the origin of the run, if the time has several runs")
    private @Nullable String origin;

    Redrive(Shell shell) {
      super(shell);
    }

    @Override
    int act(ServerConnection remote, String path, String name) {
      ObjectNode body = JsonNodeFactory.instance.objectNode().put("shard", shard);
      if (zone != null) {
        body.put("zone", zone);
      }
      if (origin != null) {
        body.put("origin", origin);
      }
      remote.post(path + "/runs/" + ServerConnection.segment(time) + "/redrive", body.toString(),
          JobPutCommand.TIMEOUT);
      shell.line("shard " + shard + " of the run of " + time + " runs again; foliot jobs runs " + name
          + " " + time + " shows it");
      return ExitCode.OK;
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
        return ExitCode.OK;
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
      return run.at("result").text().equals("SUCCEEDED") ? ExitCode.OK : ExitCode.FAILURE;
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
      return ExitCode.OK;
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
      return ExitCode.OK;
    }
  }
}
