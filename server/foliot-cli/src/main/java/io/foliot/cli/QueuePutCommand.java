package io.foliot.cli;

import io.foliot.client.Delivery;
import io.foliot.client.QueueSettings;
import java.net.URI;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
  private @Nullable Target target;

  /** The delivery of the queue's tasks: exactly one of its fields is set. */
  private static final class Target {
    @Option(names = "--to", paramLabel = "URL", description = "the receiver of the queue's tasks: POST, 2xx is success")
    private @Nullable String to;

    @Option(names = "--pull", description = "workers claim the queue's tasks")
    private boolean pull;
  }

  @Mixin
  private final QueueOptions options = new QueueOptions();

  @Option(names = "--paused", description = "begin no attempts until the queue is resumed")
  private boolean paused;

  @Mixin
  private final ServerOption server = new ServerOption();

  QueuePutCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    QueueSettings settings = QueueSettings.builder(delivery()).retry(options.retry()).priority(options.priority)
        .rate(options.rate).concurrency(options.concurrency).maxWait(options.maxWait).maxRun(options.maxRun)
        .maxJobs(options.maxJobs).maxShards(options.maxShards).retention(options.retention())
        .paused(paused ? true : null).build();
    SettingsDifference change;
    try (ServerConnection remote = server.open(shell)) {
      change = SettingsDifference.ofQueue(remote, queue, client -> client.putQueue(queue, settings));
    }
    shell.line(queue + " is in place");
    if (!change.isNew() && !change.lines().isEmpty()) {
      change.lines().forEach(shell::line);
      shell.line("  (to change single settings: foliot queues set " + queue + ")");
    }
    return Foliot.OK;
  }

  private Delivery delivery() {
    if (target == null) {
      throw CommandException.usage("a queue needs a destination: --to URL for callbacks, or --pull for workers that"
          + " claim its tasks (--url is the address of the Foliot server)");
    }
    Delivery.Builder delivery = (target.pull ? Delivery.pull() : callback(String.valueOf(target.to))).toBuilder();
    if (options.sign) {
      delivery.setting("secret", QueueOptions.secret(shell));
    }
    if (options.timeout != null) {
      delivery.setting("timeout", options.timeout);
    }
    return delivery.build();
  }

  static Delivery callback(String to) {
    try {
      return Delivery.http(URI.create(to));
    } catch (IllegalArgumentException e) {
      throw CommandException
          .usage("--to: expected an address such as http://127.0.0.1:8080/orders, but got \"" + to + "\"");
    }
  }
}
