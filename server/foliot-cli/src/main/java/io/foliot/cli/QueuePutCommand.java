package io.foliot.cli;

import io.foliot.api.QueueConfig;
import io.foliot.api.QueueFields;
import io.foliot.api.Target;
import io.foliot.api.Values;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Creates or replaces a queue. */
@Command(name = "put", description = {
    "Creates a queue, or replaces all its settings. A setting that is not given gets its default; a line reports each change."}, footer = {
        "", "Examples", "  foliot queues put orders --to http://127.0.0.1:8080/orders",
        "  foliot queues put mails --to https://mail.example/send --rate 10 \\",
        "    --max-attempts 8 --backoff 5s",
        "  foliot queues put work --pull"})
final class QueuePutCommand implements Callable<Integer> {
  private final Shell shell;

  @Parameters(paramLabel = "QUEUE", description = "the queue's name")
  private String queue = "";

  @ArgGroup
  private @Nullable Destination target;

  /** The delivery of the queue's tasks: exactly one of its fields is set. */
  private static final class Destination {
    @Option(names = "--to", paramLabel = "URL", description = "the receiver of the queue's tasks: POST, 2xx is success")
    private @Nullable String to;

    @Option(names = "--pull", description = "workers claim the queue's tasks")
    private boolean pull;
  }

  @Mixin
  private final QueueOptions options = new QueueOptions();

  private final FieldOptions settings = new FieldOptions(QueueFields.TABLE);

  @Option(names = "--paused", description = "begin no attempts until the queue is resumed")
  private boolean paused;

  @Mixin
  private final ServerOption server = new ServerOption();

  QueuePutCommand(Shell shell) {
    this.shell = shell;
  }

  CommandSpec spec() {
    return settings.addTo(CommandSpec.forAnnotatedObject(this));
  }

  @Override
  public Integer call() {
    Values values = settings.values().with(QueueFields.DELIVERY, target()).with(QueueFields.PAUSED, paused);
    SettingsDifference change;
    try (ServerConnection remote = server.open(shell)) {
      change = SettingsDifference.ofQueue(remote, queue, client -> client.putQueue(QueueConfig.of(queue, values)));
    }
    shell.line(queue + " is in place");
    if (!change.isNew() && !change.lines().isEmpty()) {
      change.lines().forEach(shell::line);
      shell.line("  (to change single settings: foliot queues set " + queue + ")");
    }
    return ExitCode.OK;
  }

  private Target target() {
    if (target == null) {
      throw CommandException.usage("a queue needs a destination: --to URL for callbacks, or --pull for workers that"
          + " claim its tasks (--url is the address of the Foliot server)");
    }
    Target chosen = target.pull
        ? Target.pull()
        : QueueOptions.callback(String.valueOf(target.to));
    if (options.sign) {
      chosen = chosen.with(QueueOptions.SECRET, QueueOptions.secret(shell));
    }
    return options.timeout == null ? chosen : chosen.with(options.timeout);
  }
}
