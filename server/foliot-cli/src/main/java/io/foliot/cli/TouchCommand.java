package io.foliot.cli;

import io.foliot.client.KeyOutcome;
import io.foliot.client.TouchedKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Moves the deadlines of tasks. */
@Command(name = "touch", description = "Resets tasks, for heartbeats: each becomes due when the given delay is over.", footer = {
    "",
    "Exit code 1 if one of the keys has no live task.", "", "Example",
    "  foliot touch sessions alice bob --delay 30m"})
final class TouchCommand implements Callable<Integer> {
  private final Shell shell;

  @Parameters(index = "0", paramLabel = "QUEUE", description = "the queue of the tasks")
  private String queue = "";

  @Parameters(index = "1", arity = "1..*", paramLabel = "KEY", description = "the keys of the tasks")
  private List<String> keys = new ArrayList<>();

  @Option(names = "--delay", paramLabel = "TIME", required = true, converter = DurationConverter.class, description = "due this long from now: 30m, 1500ms, PT30M")
  private Duration delay = Duration.ZERO;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  TouchCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    List<TouchedKey> results;
    try (ServerConnection remote = server.open(shell)) {
      results = remote.call(client -> client.touchKeys(queue, keys, delay));
    }
    if (json.isSet()) {
      List<CommandOutput> outputs = results.stream().map(result -> new CommandOutput().add("key", result.key())
          .add("result", result.result()).add("generation", result.generation()).add("dueAt", result.dueAt()))
          .toList();
      shell.line(new CommandOutput().add("results", outputs).json());
    } else {
      Table table = new Table().left("KEY").left("RESULT").left("DUE").right("GENERATION");
      results.forEach(result -> table.row(result.key(), result.result(), dash(result.dueAt()),
          dash(result.generation())));
      table.print(shell);
    }
    return results.stream().allMatch(result -> result.result() == KeyOutcome.RESET
        || result.result() == KeyOutcome.RESET_PENDING) ? ExitCode.OK : ExitCode.FAILURE;
  }

  private static Object dash(@Nullable Object value) {
    return value == null ? "-" : value;
  }
}
