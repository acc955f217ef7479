package io.foliot.cli;

import io.foliot.client.TaskPage;
import io.foliot.client.TaskState;
import io.foliot.client.TaskView;
import io.foliot.server.config.Defaults;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists tasks. */
@Command(name = "tasks", description = "Lists tasks of a queue.", footer = {"", "Examples",
    "  foliot tasks orders --state failed", "  foliot tasks orders --limit 5 --json"})
final class TasksCommand implements Callable<Integer> {
  /** Maximum number of tasks that the server returns in one response. */
  private static final int PAGE = 1_000;
  /** Maximum number of characters of a reason that the table shows. */
  private static final int SHOWN_REASON = 60;

  private final Shell shell;

  @Parameters(paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Option(names = "--state", paramLabel = "STATE", description = "only tasks in this state: delayed, ready, running, finished, failed, cancelled")
  private @Nullable String state;

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
    try (ServerConnection remote = server.open(shell)) {
      if (json.isSet()) {
        if (limit > PAGE) {
          throw CommandException.usage("--limit: expected at most " + PAGE + " with --json, but got \"" + limit
              + "\"; to continue after a page, give its nextCursor to --cursor");
        }
        shell.line(remote.get(path()));
        return Foliot.OK;
      }
      show(remote);
    }
    return Foliot.OK;
  }

  private String path() {
    return "/v1/queues/" + ServerConnection.segment(queue) + "/tasks?limit=" + limit
        + (state == null ? "" : "&state=" + ServerConnection.segment(state))
        + (cursor == null ? "" : "&cursor=" + ServerConnection.segment(cursor));
  }

  private void show(ServerConnection remote) {
    TaskState wanted = state == null ? null : state(state);
    List<TaskView> tasks = new ArrayList<>();
    String next = cursor;
    do {
      String from = next;
      TaskPage page = remote.call(
          client -> client.listTasks(queue, wanted, Math.min(limit - tasks.size(), PAGE), from));
      tasks.addAll(page.tasks());
      next = page.nextCursor();
    } while (next != null && tasks.size() < limit);
    Table table = new Table().left("ID").left("KEY").left("STATE").left("DUE").right("ATTEMPTS").left("REASON");
    tasks.forEach(task -> table.row(task.id(), task.key() == null ? "-" : task.key(), task.state(), task.dueAt(),
        attempts(task), shortened(task.reason())));
    table.print(shell);
    if (next != null) {
      shell.error("(there are more tasks; a larger --limit lists them)");
    }
  }

  private static TaskState state(String text) {
    for (TaskState known : TaskState.values()) {
      if (known != TaskState.UNRECOGNIZED && known.name().equals(text.toUpperCase(Locale.ROOT))) {
        return known;
      }
    }
    throw CommandException.usage("--state: expected one of delayed, ready, running, finished, failed, cancelled, but"
        + " got \"" + text + "\"");
  }

  private static String attempts(TaskView task) {
    Integer max = task.maxAttempts();
    return task.attempt() + (max == null ? "" : "/" + max);
  }

  private static String shortened(@Nullable String reason) {
    if (reason == null) {
      return "";
    }
    return reason.length() <= SHOWN_REASON ? reason : reason.substring(0, SHOWN_REASON) + "...";
  }
}
