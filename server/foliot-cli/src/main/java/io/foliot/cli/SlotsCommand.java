package io.foliot.cli;

import io.foliot.core.store.SlotGrowth;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import io.foliot.server.config.ConfigException;
import io.foliot.server.config.Defaults;
import io.foliot.server.config.FoliotConfig;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The commands that change the number of slots. */
@Command(name = "slots", description = "Changes how many slots a store in Redis has.")
final class SlotsCommand implements Callable<Integer> {
  private SlotsCommand() {}

  static picocli.CommandLine withSubcommands(Shell shell) {
    return new picocli.CommandLine(new SlotsCommand()).addSubcommand(new Doubling(shell));
  }

  @Override
  public Integer call() {
    throw CommandException.usage("slots needs a subcommand: foliot slots double --store redis://HOST");
  }

  /** Doubles the number of slots. */
  @Command(name = "double", description = {"Doubles the number of slots of a store in Redis while servers use it.",
      "The command may be stopped at any time; run it again to continue."}, footer = {"",
          "User and password come from FOLIOT_STORE_USER and FOLIOT_STORE_PASSWORD.", "", "Example",
          "  foliot slots double --store redis://cache.example"})
  static final class Doubling implements Callable<Integer> {
    private final Shell shell;

    @Option(names = "--store", paramLabel = "STORE", required = true, description = "redis://HOST, as in the servers' settings")
    private String store = "";

    @Option(names = "--store-namespace", paramLabel = "NAME", defaultValue = Defaults.NAMESPACE, description = "as in the servers' settings; ${DEFAULT-VALUE} unless given")
    private String namespace = "";

    @Mixin
    private final JsonOption json = new JsonOption();

    Doubling(Shell shell) {
      this.shell = shell;
    }

    @Override
    public Integer call() {
      FoliotConfig.Store config = config();
      if (!config.isRedis()) {
        throw CommandException
            .usage("only a store in Redis can get more slots; stores in databases and RocksDB keep the"
                + " number that they were created with, and need no more: store=" + store);
      }
      try (TaskStore open = opened(config)) {
        SlotGrowth.Progress done = doubled(open.capability(SlotGrowth.class).orElseThrow());
        shell.line(json.isSet()
            ? new CommandOutput().add("slots", done.slots()).add("moved", done.moved()).json()
            : "the store has " + done.slots() + " slots; tasks moved: " + done.moved()
                + ". Servers use the new number after their next start");
        return ExitCode.OK;
      }
    }

    private static TaskStore opened(FoliotConfig.Store config) {
      try {
        MigrateCommand.ensureExists(config);
        return MigrateCommand.open(config);
      } catch (StoreException e) {
        throw CommandException.failure(e.getMessage() + "; nothing was changed", e);
      }
    }

    private SlotGrowth.Progress doubled(SlotGrowth growth) {
      try {
        return Progress.during(shell, "slots double", progress -> growth.doubleSlots(now -> progress
            .accept(now.drained() + " of " + now.slots() / 2 + " slots, tasks moved: " + now.moved())));
      } catch (StoreException | IllegalStateException e) {
        throw CommandException.failure(e.getMessage() + "; run the command again to continue", e);
      }
    }

    private FoliotConfig.Store config() {
      try {
        return FoliotConfig.load(Map.of("store", store, "store-namespace", namespace, "store-user",
            shell.variable("FOLIOT_STORE_USER"), "store-password", shell.variable("FOLIOT_STORE_PASSWORD")), Map.of(),
            null)
            .store();
      } catch (ConfigException e) {
        throw CommandException.usage(String.valueOf(e.getMessage()));
      }
    }
  }
}
