package io.foliot.cli;

import io.foliot.client.Delivery;
import io.foliot.client.QueueSettings;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Creates or replaces a queue. */
@Command(name = "put", description = {
    "Creates a queue, or replaces its settings: what is not set gets the default, and is told if it was another."}, footer = {
        "", "Examples", "  foliot queues put orders --to http://127.0.0.1:8080/orders",
        "  foliot queues put mails --to https://mail.example/send --rate 10 --max-attempts 8 --backoff 5s",
        "  foliot queues put work --pull"})
final class QueuePutCommand implements Callable<Integer> {
  /** By which scripts hand over a secret, since a command line can be seen by all users of a machine. */
  static final String SECRET_VARIABLE = "FOLIOT_WEBHOOK_SECRET";

  /** Fields of a queue that say how it fares. */
  private static final Set<String> NO_SETTINGS = Set.of("stats", "version", "createdAt", "updatedAt");

  private final Shell shell;

  @Parameters(paramLabel = "QUEUE", description = "the queue's name")
  private String queue = "";

  @ArgGroup
  private @Nullable Where where;

  /** Where its tasks go. */
  private static final class Where {
    @Option(names = "--to", paramLabel = "URL", description = "where its tasks are sent: POST, 2xx is success")
    private @Nullable String to;

    @Option(names = "--pull", description = "workers ask for its tasks")
    private boolean pull;
  }

  @Option(names = "--timeout", paramLabel = "TIME", converter = DurationConverter.class, description = "how long a receiver may take; 10s unless set")
  private @Nullable Duration timeout;

  @Option(names = "--sign", description = "sign callbacks with the secret in the variable " + SECRET_VARIABLE)
  private boolean sign;

  @Option(names = "--max-attempts", paramLabel = "N", description = "attempts until a task is a dead letter")
  private @Nullable Integer maxAttempts;

  @Option(names = "--backoff", paramLabel = "TIME", converter = DurationConverter.class, description = "wait after the first failure")
  private @Nullable Duration backoff;

  @Option(names = "--multiplier", paramLabel = "X", description = "by which the wait grows")
  private @Nullable Double multiplier;

  @Option(names = "--max-backoff", paramLabel = "TIME", converter = DurationConverter.class, description = "where that ends")
  private @Nullable Duration maxBackoff;

  @Option(names = "--jitter", paramLabel = "X", description = "share of the wait that is drawn by lot, from 0 to 1")
  private @Nullable Double jitter;

  @Option(names = "--priority", paramLabel = "N", description = "from -10 to 10; 0 unless set")
  private @Nullable Integer priority;

  @Option(names = "--rate", paramLabel = "X", description = "attempts that begin per second at most")
  private @Nullable Double rate;

  @Option(names = "--concurrency", paramLabel = "N", description = "attempts that run at once at most")
  private @Nullable Integer concurrency;

  @Option(names = "--max-wait", paramLabel = "TIME", converter = DurationConverter.class, description = "how far resets may push a task beyond its first due time")
  private @Nullable Duration maxWait;

  @Option(names = "--max-run", paramLabel = "TIME", converter = DurationConverter.class, description = "how long one attempt may run, however often its lease is extended")
  private @Nullable Duration maxRun;

  @Option(names = "--keep-finished", paramLabel = "TIME", converter = DurationConverter.class, description = "how long finished tasks can be looked at")
  private @Nullable Duration keepFinished;

  @Option(names = "--keep-failed", paramLabel = "TIME", converter = DurationConverter.class, description = "how long failed tasks can be looked at and redriven")
  private @Nullable Duration keepFailed;

  @Option(names = "--paused", description = "begin no attempts until the queue is resumed")
  private boolean paused;

  @Mixin
  private final ServerOption server = new ServerOption();

  QueuePutCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    QueueSettings settings = QueueSettings.builder(delivery())
        .retry(new QueueSettings.Retry(maxAttempts, backoff, multiplier, maxBackoff, jitter)).priority(priority)
        .rate(rate).concurrency(concurrency).maxWait(maxWait).maxRun(maxRun)
        .retention(new QueueSettings.Retention(keepFinished, keepFailed)).paused(paused ? true : null).build();
    String path = "/v1/queues/" + ServerConnection.segment(queue);
    JsonView before;
    JsonView after;
    try (ServerConnection remote = server.open(shell)) {
      before = JsonView.parse(remote.getIfAny(path));
      remote.tell(client -> client.putQueue(queue, settings));
      after = JsonView.parse(remote.get(path));
    }
    shell.line(queue + " is in place");
    if (before.exists()) {
      changes(before, after).forEach(shell::line);
    }
    return Foliot.OK;
  }

  /** Returns the settings that are not as they were before: one that is not given again gets its default. */
  private static List<String> changes(JsonView before, JsonView after) {
    Map<String, String> were = new TreeMap<>();
    Map<String, String> are = new TreeMap<>();
    addSettings(were, "", before);
    addSettings(are, "", after);
    Set<String> names = new TreeSet<>(were.keySet());
    names.addAll(are.keySet());
    return names.stream().filter(name -> !Objects.equals(were.get(name), are.get(name)))
        .map(name -> "  " + name + " is " + are.getOrDefault(name, "not set") + ", and was "
            + were.getOrDefault(name, "not set"))
        .toList();
  }

  private static void addSettings(Map<String, String> settings, String prefix, JsonView view) {
    for (String name : view.names()) {
      if (prefix.isEmpty() && NO_SETTINGS.contains(name)) {
        continue;
      }
      JsonView value = view.at(name);
      if (value.names().isEmpty()) {
        if (value.exists()) {
          settings.put(prefix + name, value.text());
        }
      } else {
        addSettings(settings, prefix + name + ".", value);
      }
    }
  }

  private Delivery delivery() {
    if (where == null) {
      throw CommandException.usage("a queue says where its tasks go: --to URL for callbacks, or --pull for workers that"
          + " ask for them (--url is the address of the Foliot server)");
    }
    Delivery.Builder delivery = (where.pull ? Delivery.pull() : callback(String.valueOf(where.to))).toBuilder();
    if (sign) {
      String secret = shell.variable(SECRET_VARIABLE);
      if (secret.isEmpty()) {
        throw CommandException.usage("--sign takes the secret from the variable " + SECRET_VARIABLE
            + ", which is not set");
      }
      delivery.setting("secret", secret);
    }
    if (timeout != null) {
      delivery.setting("timeout", timeout);
    }
    return delivery.build();
  }

  private static Delivery callback(String to) {
    try {
      return Delivery.http(URI.create(to));
    } catch (IllegalArgumentException e) {
      throw CommandException.usage("--to is an address such as http://127.0.0.1:8080/orders: found=\"" + to + "\"");
    }
  }
}
