package io.foliot.cli;

import io.foliot.api.DurationText;
import io.foliot.core.SystemClock;
import io.foliot.core.store.StoreAddress;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.migration.Migration;
import io.foliot.engine.migration.MigrationException;
import io.foliot.jobs.JobMove;
import io.foliot.server.api.EngineWords;
import io.foliot.server.config.ConfigException;
import io.foliot.server.config.FoliotConfig;
import io.foliot.server.store.Stores;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Moves all live tasks from one store to another. */
@Command(name = "migrate", description = {
    "Moves all live tasks, and the queues, calendars and API keys, to another store.",
    "A second or two after the beginning of the migration, the source accepts and fires nothing more.",
    "The target is opened once both stores have the same live tasks.",
    "An interrupted migration continues where it stopped when the same command is run again."}, footer = {"",
        "A store is one of these:", "  rocksdb:DIR   a data folder, whose server must be stopped",
        "  jdbc:postgresql://HOST/DATABASE", "  jdbc:mariadb://HOST/DATABASE", "  redis://HOST",
        "Users and passwords come from the variables FOLIOT_FROM_USER,",
        "FOLIOT_FROM_PASSWORD, FOLIOT_TO_USER and FOLIOT_TO_PASSWORD.", "", "Example",
        "  FOLIOT_TO_USER=foliot FOLIOT_TO_PASSWORD=... \\",
        "  foliot migrate --from rocksdb:foliot-data \\",
        "    --to jdbc:postgresql://db.example/foliot"})
final class MigrateCommand implements Callable<Integer> {
  private static final String PATIENCE = "60s";

  private final Shell shell;

  @Option(names = "--from", paramLabel = "STORE", description = "the store whose tasks are moved")
  private @Nullable String from;

  @Option(names = "--to", paramLabel = "STORE", description = "the store that the tasks are moved to; it must have no tasks")
  private @Nullable String to;

  @Option(names = "--patience", paramLabel = "TIME", defaultValue = PATIENCE, converter = DurationConverter.class, description = "how long to wait for running attempts to end; after that, tasks are moved while they run; ${DEFAULT-VALUE} unless given")
  private Duration patience = DurationText.parse(PATIENCE);

  @Option(names = "--release", paramLabel = "STORE", description = "removes the seal of a migration from a store, and moves nothing")
  private @Nullable String release;

  @Mixin
  private final JsonOption json = new JsonOption();

  MigrateCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (release != null && (from != null || to != null)) {
      throw CommandException.usage("--release moves nothing: give it without --from and --to");
    }
    try {
      return release == null ? migrate() : release(release);
    } catch (MigrationException e) {
      StoreSeal seal = e.seal();
      throw CommandException.failure(
          seal == null ? String.valueOf(e.getMessage()) : "the target is sealed: " + EngineWords.of(seal), e);
    } catch (StoreException e) {
      throw CommandException.failure(String.valueOf(e.getMessage()), e);
    } catch (CompletionException e) {
      throw CommandException.failure(String.valueOf(e.getCause() == null ? e : e.getCause().getMessage()), e);
    }
  }

  private int migrate() {
    if (from == null || to == null) {
      throw CommandException.usage("migrate needs --from STORE and --to STORE; or --release STORE");
    }
    FoliotConfig.Store source = store("--from", from, "FOLIOT_FROM");
    FoliotConfig.Store target = store("--to", to, "FOLIOT_TO");
    if (source.name().equals(target.name())) {
      throw CommandException.usage("--from and --to are the same store: " + source.name());
    }
    long begun = System.nanoTime();
    Migration.Result result = Progress.during(shell, "migrate", progress -> {
      ensureExists(source);
      try (TaskStore open = open(source); TaskStore filled = open(target)) {
        return new Migration(open, source.name(), filled, target.name(), progress, JobMove::recordEnds)
            .run(patience);
      }
    });
    double seconds = (System.nanoTime() - begun) / 1e9;
    if (json.isSet()) {
      shell.line(new CommandOutput().add("tasks", result.tasks()).add("checksum", result.checksum())
          .add("settings", result.settings()).add("seconds", seconds)
          .add("deadLetters", result.failed()).add("notMoved", result.unreadable().size()).json());
    } else {
      shell.line("moved " + Words.number(result.tasks(), "task") + " (checksum " + result.checksum() + ") and "
          + Words.number(result.settings(), "setting") + " after " + Words.seconds(seconds) + "; start servers with "
          + serverOptions(target));
      if (result.failed() > 0) {
        shell.line("dead letters left in " + source.name() + ": " + result.failed()
            + ". To redrive them, return to the source before a server uses the target: foliot migrate --release "
            + source.name() + "; foliot server " + serverOptions(source)
            + "; foliot queues redrive QUEUE; then migrate to another, empty store");
      }
    }
    if (!result.unreadable().isEmpty()) {
      result.unreadable().forEach(task -> shell.error("not moved: task=" + task.id() + ", reason=" + task.reason()));
      throw CommandException
          .failure("all but " + result.unreadable().size() + " tasks were moved; the others cannot be read, and"
              + " stay in the source: " + source.name());
    }
    return ExitCode.OK;
  }

  private int release(String text) {
    FoliotConfig.Store store = store("--release", text, "FOLIOT_FROM");
    ensureExists(store);
    try (TaskStore open = open(store)) {
      boolean sealed = Migration.release(open);
      if (json.isSet()) {
        shell.line(new CommandOutput().add("store", store.name()).add("released", sealed).json());
      } else {
        shell.line(store.name() + (sealed ? " is open again" : " was not sealed"));
      }
      return ExitCode.OK;
    }
  }

  /** Returns the command-line options of a server that uses a store. */
  private static String serverOptions(FoliotConfig.Store store) {
    return store.isRemote() ? "--store " + store.name() : "--store " + store.kind() + " --data " + store.data();
  }

  /** Throws if a store does not exist, so that a mistyped name does not create one. */
  static void ensureExists(FoliotConfig.Store store) {
    boolean exists;
    try {
      exists = Stores.exists(store);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
    if (!exists) {
      throw CommandException.failure("there is no store at " + store.name() + "; nothing was created or changed");
    }
  }

  /** Opens a store. If its address is unusable, the error says that the caller made a mistake. */
  static TaskStore open(FoliotConfig.Store store) {
    try {
      return Stores.open(store, new SystemClock(), failure -> {
        // The next call fails and reports it.
      }, unreadable -> {
        // The store logs it.
      });
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private FoliotConfig.Store store(String option, String text, String variablePrefix) {
    if (text.indexOf(':') < 0) {
      throw CommandException.usage(option + ": expected rocksdb:DIR, jdbc:... or redis://..., but got \"" + text
          + "\"; a data folder is written as rocksdb:" + text);
    }
    Map<String, String> flags = new HashMap<>();
    if (text.startsWith("rocksdb:")) {
      flags.put("store", "rocksdb");
      flags.put("data", text.substring("rocksdb:".length()));
    } else {
      flags.put("store", text);
    }
    flags.put("store-user", shell.variable(variablePrefix + "_USER"));
    flags.put("store-password", shell.variable(variablePrefix + "_PASSWORD"));
    try {
      FoliotConfig.Store store = FoliotConfig.load(flags, Map.of(), null).store();
      if (!store.isRemote() && !text.startsWith("rocksdb:")) {
        throw CommandException
            .usage(option + ": expected rocksdb:DIR, jdbc:... or redis://..., but got \"" + StoreAddress.scheme(text)
                + "...\"");
      }
      return store;
    } catch (ConfigException e) {
      throw CommandException.usage(option + ": " + e.getMessage());
    }
  }
}
