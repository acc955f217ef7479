package io.foliot.cli;

import io.foliot.core.SystemClock;
import io.foliot.core.store.StoreException;
import io.foliot.server.config.ConfigException;
import io.foliot.server.config.FoliotConfig;
import io.foliot.store.rocksdb.RocksDbOptions;
import io.foliot.store.rocksdb.RocksDbStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Makes a backup of a store. */
@Command(name = "backup", description = {"Makes a backup, also while the server runs.",
    "With --data, the command backs up that folder; if the folder is in use, the server at --url does it.",
    "Without --data, the server at --url makes the backup."}, footer = {
        "", "Examples", "  foliot backup --to /backups/2026-11-21",
        "  foliot backup --data foliot-data --to before-upgrade"})
final class BackupCommand implements Callable<Integer> {
  /** Longest wait for the server's backup, which copies the whole store: about a minute per 5 GB. */
  private static final Duration PATIENCE = Duration.ofHours(6);

  private final Shell shell;

  @Option(names = "--to", paramLabel = "DIR", required = true, description = "a new or empty folder for the backup")
  private Path to = Path.of("");

  @Option(names = "--data", paramLabel = "DIR", description = "the data folder to back up")
  private @Nullable Path data;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  BackupCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    Path target = to.toAbsolutePath().normalize();
    Folders.ensureEmpty("--to", target);
    long begun = System.nanoTime();
    Path folder = data;
    Path place = folder == null || isInUse(folder)
        ? byServer(target)
        : Progress.during(shell, "backup", target, () -> byThisProcess(folder, target));
    double seconds = (System.nanoTime() - begun) / 1e9;
    CommandOutput output = new CommandOutput().add("backup", place);
    long bytes = Folders.bytes(place);
    if (json.isSet()) {
      shell.line(output.add("bytes", bytes).add("seconds", seconds).json());
    } else {
      shell.line("the backup is in " + place + (bytes == 0 ? "" : ", " + Words.bytes(bytes)) + ", after "
          + Words.seconds(seconds) + "; ./foliot restore --from " + place
          + " --data DIR creates a data folder from it");
    }
    return ExitCode.OK;
  }

  private static boolean isInUse(Path data) {
    Path folder = storeFolder(data);
    if (!Files.isDirectory(folder)) {
      throw CommandException.failure("there is no store in " + data.toAbsolutePath().normalize()
          + ": name the data folder of the server with --data");
    }
    return !RocksDbStore.isFree(folder);
  }

  /** Returns the folder of the store in a data folder. */
  static Path storeFolder(Path data) {
    try {
      return FoliotConfig.load(Map.of("data", data.toString()), Map.of(), null).store().folder();
    } catch (ConfigException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private static Path byThisProcess(Path folder, Path target) {
    try (RocksDbStore store = RocksDbStore.open(storeFolder(folder), RocksDbOptions.DEFAULT, new SystemClock())) {
      store.backup(target);
      return target;
    } catch (StoreException e) {
      throw CommandException.failure(String.valueOf(e.getMessage()), e);
    }
  }

  // The server writes backups only into its backup folder. If the result is on this machine, it is moved to the target.
  private Path byServer(Path target) {
    String name = "foliot-backup-" + Instant.now().toString().replaceAll("[^0-9]", "").substring(0, 14);
    String body = new CommandOutput().add("directory", name).json();
    Path written;
    try (ServerConnection remote = server.open(shell)) {
      String answer = Progress.during(shell, "backup", target, () -> remote.post("/v1/backups", body, PATIENCE));
      written = Path.of(JsonView.parse(answer).at("directory").text());
    }
    if (!Files.isDirectory(written)) {
      shell.error("the server is on another machine, so the backup stays there");
      return written;
    }
    try {
      Folders.move(written, target);
    } catch (IOException e) {
      throw CommandException.failure("the backup is in " + written + ", and could not be moved to " + target + ": "
          + e.getMessage(), e);
    }
    return target;
  }
}
