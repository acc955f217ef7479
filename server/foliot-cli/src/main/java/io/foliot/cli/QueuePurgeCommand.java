package io.foliot.cli;

import io.foliot.api.TaskState;
import io.foliot.client.BulkCancelResult;
import io.foliot.client.FoliotClient;
import io.foliot.client.TaskFilter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Cancels many tasks of a queue. */
@Command(name = "purge", description = {"Cancels the live tasks of a queue that match the filter.",
    "A running task is cancelled when its attempt fails or its lease ends."}, footer = {"", "Examples",
        "  foliot queues purge orders --all", "  foliot queues purge orders --key-prefix test-",
        "  foliot queues purge orders --state delayed --due-before 2027-01-01T00:00:00Z"})
final class QueuePurgeCommand implements Callable<Integer> {
  /** The states of live tasks. */
  enum Live {
    DELAYED, READY, RUNNING;

    TaskState state() {
      return TaskState.valueOf(name());
    }
  }

  private final Shell shell;

  @Parameters(paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Option(names = "--all", description = "all live tasks")
  private boolean all;

  @Option(names = "--state", paramLabel = "STATE", split = ",", description = "only tasks in these states: delayed, ready, running")
  private List<Live> states = new ArrayList<>();

  @Option(names = "--key-prefix", paramLabel = "TEXT", description = "only tasks whose key begins with this")
  private @Nullable String keyPrefix;

  @Option(names = "--due-before", paramLabel = "INSTANT", converter = InstantConverter.class, description = "only tasks that are due before this instant")
  private @Nullable Instant dueBefore;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  QueuePurgeCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    TaskFilter filter = filter();
    BulkCancelResult result;
    try (ServerConnection remote = server.open(shell)) {
      result = Progress.during(shell, "cancelling tasks of " + queue, progress -> purge(remote, filter, progress));
    }
    if (json.isSet()) {
      shell.line(new CommandOutput().add("cancelled", result.cancelled()).add("pending", result.pending()).json());
      return ExitCode.OK;
    }
    shell.line("cancelled " + Words.number(result.cancelled(), "task"));
    if (result.pending() > 0) {
      shell.line("still running: " + Words.number(result.pending(), "task")
          + ", to be cancelled when an attempt ends without success");
    }
    return ExitCode.OK;
  }

  private TaskFilter filter() {
    boolean isFiltered = !states.isEmpty() || keyPrefix != null || dueBefore != null;
    if (all == isFiltered) {
      throw CommandException.usage("a purge takes either --all or a filter: --state, --key-prefix, --due-before");
    }
    TaskFilter.Builder filter = TaskFilter.builder();
    if (!states.isEmpty()) {
      Set<TaskState> wanted = EnumSet.noneOf(TaskState.class);
      states.forEach(live -> wanted.add(live.state()));
      filter.states(wanted);
    }
    if (keyPrefix != null) {
      filter.keyPrefix(keyPrefix);
    }
    if (dueBefore != null) {
      filter.dueBefore(dueBefore);
    }
    return filter.build();
  }

  private BulkCancelResult purge(ServerConnection remote, TaskFilter filter, Consumer<String> progress) {
    long cancelled = 0;
    long pending = 0;
    String cursor = null;
    do {
      String from = cursor;
      BulkCancelResult part = remote.call(
          client -> client.cancelTasks(queue, filter, FoliotClient.MAX_BATCH, from));
      cancelled += part.cancelled();
      pending += part.pending();
      cursor = part.nextCursor();
      progress.accept(cancelled + " cancelled");
    } while (cursor != null);
    return new BulkCancelResult(cancelled, pending, null);
  }
}
