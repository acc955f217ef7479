package io.foliot.cli;

import io.foliot.client.TaskState;
import io.foliot.server.config.Defaults;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists tasks. */
@Command(name = "tasks", description = "Lists tasks of a queue, or of a job.", footer = {"",
    "The filters are --state, --key and --job; there is none by payload, header or time.", "", "Examples",
    "  foliot tasks orders --state failed", "  foliot tasks orders --key order-7", "  foliot tasks --job report",
    "  foliot tasks orders --limit 5 --json"})
final class TasksCommand implements Callable<Integer> {
  /** Maximum number of tasks that the server returns in one response. */
  private static final int PAGE = 1_000;
  /** Maximum number of characters of a reason that the table shows. */
  private static final int SHOWN_REASON = 60;

  private final Shell shell;

  @Parameters(arity = "0..1", paramLabel = "QUEUE", description = "the queue; with --job the job's queue unless given")
  private @Nullable String queue;

  @Option(names = "--state", paramLabel = "STATE", description = "only tasks in this state: delayed, ready, running, finished, failed, cancelled")
  private @Nullable String state;

  @Option(names = "--key", paramLabel = "KEY", description = "only tasks with this key")
  private @Nullable String key;

  @Option(names = "--job", paramLabel = "JOB", description = "only tasks of the runs of this job; foliot jobs runs JOB TIME finds those of one run faster")
  private @Nullable String job;

  @Option(names = "--limit", paramLabel = "N", description = "maximum number of tasks to list; default: "
      + Defaults.PAGE)
  private int limit = Defaults.PAGE;

  @Option(names = "--cursor", paramLabel = "TEXT", description = "the nextCursor of an earlier page,"
      + " as --json printed it; the list continues after that page")
  private @Nullable String cursor;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  TasksCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (limit < 1) {
      throw CommandException.usage("--limit: expected a positive number, but got \"" + limit + "\"");
    }
    if (queue == null && job == null) {
      throw CommandException.usage("Missing required parameter: QUEUE, or --job JOB");
    }
    try (ServerConnection remote = server.open(shell)) {
      String path = path(remote);
      if (json.isSet()) {
        if (limit > PAGE) {
          throw CommandException.usage("--limit: expected at most " + PAGE + " with --json, but got \"" + limit
              + "\"; to continue after a page, give its nextCursor to --cursor");
        }
        shell.line(remote.get(path(path, limit, cursor)));
        return Foliot.OK;
      }
      show(remote, path);
    }
    return Foliot.OK;
  }

  private String path(ServerConnection remote) {
    String of = queue != null
        ? queue
        : JsonView.parse(remote.get("/v1/jobs/" + ServerConnection.segment(String.valueOf(job)))).at("queue").text();
    return "/v1/queues/" + ServerConnection.segment(of) + "/tasks?"
        + (state == null ? "" : "state=" + ServerConnection.segment(state) + "&")
        + (key == null ? "" : "key=" + ServerConnection.segment(key) + "&")
        + (job == null ? "" : "job=" + ServerConnection.segment(job) + "&");
  }

  private static String path(String path, int limit, @Nullable String cursor) {
    return path + "limit=" + limit + (cursor == null ? "" : "&cursor=" + ServerConnection.segment(cursor));
  }

  private void show(ServerConnection remote, String path) {
    if (state != null) {
      ensureState(state);
    }
    Table table = new Table().left("ID").left("KEY").left("JOB").left("STATE").left("DUE").right("ATTEMPTS")
        .left("REASON");
    String next = cursor;
    int shown = 0;
    do {
      JsonView page = JsonView.parse(remote.get(path(path, Math.min(limit - shown, PAGE), next)));
      for (JsonView task : page.at("tasks").items()) {
        table.row(task.at("id").text(), task.at("key").text("-"), task.at("headers", "foliot-job").text("-"),
            task.at("state").text(), task.at("dueAt").text(), attempts(task), shortened(task.at("reason").text("")));
        shown++;
      }
      next = page.at("nextCursor").text("");
    } while (!next.isEmpty() && shown < limit);
    table.print(shell);
    if (!next.isEmpty()) {
      shell.error("(there are more tasks; a larger --limit lists them)");
    }
  }

  private static void ensureState(String text) {
    for (TaskState known : TaskState.values()) {
      if (known != TaskState.UNRECOGNIZED && known.name().equals(text.toUpperCase(Locale.ROOT))) {
        return;
      }
    }
    throw CommandException.usage("--state: expected one of delayed, ready, running, finished, failed, cancelled, but"
        + " got \"" + text + "\"");
  }

  private static String attempts(JsonView task) {
    JsonView max = task.at("maxAttempts");
    return task.at("attempt").number() + (max.exists() ? "/" + max.number() : "");
  }

  private static String shortened(String reason) {
    return reason.length() <= SHOWN_REASON ? reason : reason.substring(0, SHOWN_REASON) + "...";
  }
}
