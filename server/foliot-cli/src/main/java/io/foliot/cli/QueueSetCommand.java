package io.foliot.cli;

import io.foliot.client.QueuePatch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Changes some settings of a queue. */
@Command(name = "set", description = "Changes the given settings of a queue; the others stay as they are.", footer = {
    "", "Examples", "  foliot queues set mails --rate 20", "  foliot queues set mails --unset rate --concurrency 5"})
final class QueueSetCommand implements Callable<Integer> {
  /** A setting that can be reset to its default. */
  enum Setting {
    SECRET("secret"), TIMEOUT("timeout"), RETRY("retry"), PRIORITY("priority"), RATE("rate"), CONCURRENCY(
        "concurrency"), MAX_WAIT(
            "max-wait"), MAX_RUN("max-run"), MAX_JOBS("max-jobs"), MAX_SHARDS("max-shards"), RETENTION("retention");

    private final String word;

    Setting(String word) {
      this.word = word;
    }

    @Override
    public String toString() {
      return word;
    }
  }

  /** Converts the name of a setting on the command line. */
  static final class Settings implements ITypeConverter<Setting> {
    static final String WORDS = "secret, timeout, retry, priority, rate, concurrency, max-wait, max-run, max-jobs,"
        + " max-shards, retention";

    @Override
    public Setting convert(String text) {
      return Stream.of(Setting.values()).filter(setting -> setting.word.equals(text)).findFirst()
          .orElseThrow(() -> new TypeConversionException("expected one of " + WORDS + ", but got \"" + text + "\""));
    }
  }

  private final Shell shell;

  @Parameters(paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Option(names = "--to", paramLabel = "URL", description = "the receiver of the queue's tasks")
  private @Nullable String to;

  @Mixin
  private final QueueOptions options = new QueueOptions();

  @Option(names = "--unset", paramLabel = "SETTING", split = ",", converter = Settings.class, description = "resets settings to their defaults: "
      + Settings.WORDS)
  private List<Setting> unset = new ArrayList<>();

  @Mixin
  private final ServerOption server = new ServerOption();

  /** Settings that the command line changes to a value. */
  private final List<Setting> given = new ArrayList<>();

  QueueSetCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    QueuePatch patch = patch();
    SettingsDifference change;
    try (ServerConnection remote = server.open(shell)) {
      change = SettingsDifference.ofQueue(remote, queue, client -> client.patchQueue(queue, patch));
    }
    shell.line(queue + (change.lines().isEmpty() ? " is unchanged" : " is changed"));
    change.lines().forEach(shell::line);
    return Foliot.OK;
  }

  private QueuePatch patch() {
    QueuePatch.Builder patch = QueuePatch.builder();
    if (to != null) {
      QueuePutCommand.callback(to);
      patch.delivery("url", to);
    }
    if (recordIfGiven(Setting.SECRET, options.sign)) {
      patch.delivery("secret", QueueOptions.secret(shell));
    }
    if (recordIfGiven(Setting.TIMEOUT, options.timeout != null)) {
      patch.timeout(options.timeout);
    }
    if (recordIfGiven(Setting.RETRY, options.hasRetry())) {
      patch.retry(options.retry());
    }
    if (recordIfGiven(Setting.PRIORITY, options.priority != null)) {
      patch.priority(options.priority);
    }
    if (recordIfGiven(Setting.RATE, options.rate != null)) {
      patch.rate(options.rate);
    }
    if (recordIfGiven(Setting.CONCURRENCY, options.concurrency != null)) {
      patch.concurrency(options.concurrency);
    }
    if (recordIfGiven(Setting.MAX_WAIT, options.maxWait != null)) {
      patch.maxWait(options.maxWait);
    }
    if (recordIfGiven(Setting.MAX_RUN, options.maxRun != null)) {
      patch.maxRun(options.maxRun);
    }
    if (recordIfGiven(Setting.MAX_JOBS, options.maxJobs != null)) {
      patch.maxJobs(options.maxJobs);
    }
    if (recordIfGiven(Setting.MAX_SHARDS, options.maxShards != null)) {
      patch.maxShards(options.maxShards);
    }
    if (recordIfGiven(Setting.RETENTION, options.hasRetention())) {
      patch.retention(options.retention());
    }
    unset.forEach(setting -> unset(patch, setting));
    if (to == null && given.isEmpty() && unset.isEmpty()) {
      throw CommandException.usage("name at least one setting to change, such as --rate 10 or --unset rate");
    }
    return patch.build();
  }

  /** Records a setting if its options are given; returns {@code isGiven}. */
  private boolean recordIfGiven(Setting setting, boolean isGiven) {
    if (isGiven) {
      given.add(setting);
    }
    return isGiven;
  }

  private void unset(QueuePatch.Builder patch, Setting setting) {
    if (given.contains(setting)) {
      throw CommandException.usage(setting + " is both set and unset");
    }
    switch (setting) {
      case SECRET -> patch.delivery("secret", null);
      case TIMEOUT -> patch.timeout(null);
      case RETRY -> patch.retry(null);
      case PRIORITY -> patch.priority(null);
      case RATE -> patch.rate(null);
      case CONCURRENCY -> patch.concurrency(null);
      case MAX_WAIT -> patch.maxWait(null);
      case MAX_RUN -> patch.maxRun(null);
      case MAX_JOBS -> patch.maxJobs(null);
      case MAX_SHARDS -> patch.maxShards(null);
      case RETENTION -> patch.retention(null);
    }
  }
}
