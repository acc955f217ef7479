package io.foliot.cli;

import io.foliot.api.Field;
import io.foliot.api.QueueFields;
import io.foliot.client.QueuePatch;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Changes some settings of a queue. */
@Command(name = "set", description = "Changes the given settings of a queue; the others stay as they are.", footer = {
    "", "Examples", "  foliot queues set mails --rate 20", "  foliot queues set mails --unset rate --concurrency 5"})
final class QueueSetCommand implements Callable<Integer> {
  private static final String TIMEOUT = "timeout";

  private final Shell shell;

  @Parameters(paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Option(names = "--to", paramLabel = "URL", description = "the receiver of the queue's tasks")
  private @Nullable String to;

  @Mixin
  private final QueueOptions options = new QueueOptions();

  private final FieldOptions settings = new FieldOptions(QueueFields.TABLE, QueueOptions.SECRET, TIMEOUT);

  @Mixin
  private final ServerOption server = new ServerOption();

  QueueSetCommand(Shell shell) {
    this.shell = shell;
  }

  CommandSpec spec() {
    return settings.addWithUnsetTo(CommandSpec.forAnnotatedObject(this));
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
    return ExitCode.OK;
  }

  private QueuePatch patch() {
    QueuePatch.Builder patch = QueuePatch.builder();
    boolean isEmpty = settings.change(new FieldOptions.Change() {
      @Override
      public <T> void set(Field<T> field, @Nullable T value) {
        patch.set(field, value);
      }

      @Override
      public void reset(String other) {
        ensure(other, other.equals(TIMEOUT) ? options.timeout != null : options.sign);
        patch.delivery(other, null);
      }
    });
    if (to != null) {
      patch.delivery("url", QueueOptions.callback(to).settings().get("url"));
    }
    if (options.sign) {
      patch.delivery(QueueOptions.SECRET, QueueOptions.secret(shell));
    }
    if (options.timeout != null) {
      patch.timeout(options.timeout);
    }
    if (isEmpty && to == null && !options.sign && options.timeout == null) {
      throw CommandException.usage("name at least one setting to change, such as --rate 10 or --unset rate");
    }
    return patch.build();
  }

  private static void ensure(String setting, boolean isSet) {
    if (isSet) {
      throw CommandException.usage(setting + " is both set and unset");
    }
  }
}
