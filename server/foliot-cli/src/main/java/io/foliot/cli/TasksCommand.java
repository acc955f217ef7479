package io.foliot.cli;

import io.foliot.api.TaskState;
import io.foliot.client.TaskPage;
import io.foliot.client.TaskQuery;
import io.foliot.client.TaskView;
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

  /** Header of the tasks of a job's runs. */
  private static final String JOB = "foliot-job";

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
    TaskQuery query = new TaskQuery(state == null ? null : state(state), key, job);
    try (ServerConnection remote = server.open(shell)) {
      String of = queue != null ? queue : queueOf(remote, String.valueOf(job));
      if (json.isSet()) {
        if (limit > PAGE) {
          throw CommandException.usage("--limit: expected at most " + PAGE + " with --json, but got \"" + limit
              + "\"; to continue after a page, give its nextCursor to --cursor");
        }
        shell.line(remote.get("/v1/queues/" + ServerConnection.segment(of) + "/tasks?limit=" + limit
            + parameter("state", query.state()) + parameter("key", key) + parameter("job", job)
            + parameter("cursor", cursor)));
        return ExitCode.OK;
      }
      show(remote, of, query);
    }
    return ExitCode.OK;
  }

  private static String parameter(String name, @Nullable Object value) {
    return value == null ? "" : "&" + name + "=" + ServerConnection.segment(value.toString());
  }

  private static String queueOf(ServerConnection remote, String job) {
    return JsonView.parse(remote.call(client -> client.getJob(job)).json()).at("queue").text();
  }

  private void show(ServerConnection remote, String of, TaskQuery query) {
    Table table = new Table().left("ID").left("KEY").left("JOB").left("STATE").left("DUE").right("ATTEMPTS")
        .left("REASON");
    String next = cursor;
    int shown = 0;
    do {
      String from = next;
      int most = Math.min(limit - shown, PAGE);
      TaskPage page = remote.call(client -> client.listTasks(of, query, most, from));
      page.tasks().forEach(task -> table.row(task.id(), or(task.key(), "-"), task.headers().getOrDefault(JOB, "-"),
          task.state(), task.dueAt(), attempts(task), shortened(or(task.reason(), ""))));
      shown += page.tasks().size();
      next = page.nextCursor();
    } while (next != null && shown < limit);
    table.print(shell);
    if (next != null) {
      shell.error("(there are more tasks; a larger --limit lists them)");
    }
  }

  private static TaskState state(String text) {
    for (TaskState known : TaskState.values()) {
      if (known.name().equals(text.toUpperCase(Locale.ROOT))) {
        return known;
      }
    }
    throw CommandException.usage("--state: expected one of delayed, ready, running, finished, failed, cancelled, but"
        + " got \"" + text + "\"");
  }

  private static String or(@Nullable String text, String otherwise) {
    return text == null ? otherwise : text;
  }

  private static String attempts(TaskView task) {
    return task.attempt() + (task.maxAttempts() == null ? "" : "/" + task.maxAttempts());
  }

  private static String shortened(String reason) {
    return reason.length() <= SHOWN_REASON ? reason : reason.substring(0, SHOWN_REASON) + "...";
  }
}
