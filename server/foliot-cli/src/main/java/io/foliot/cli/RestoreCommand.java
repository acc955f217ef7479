package io.foliot.cli;

import io.foliot.core.store.StoreException;
import io.foliot.server.store.PrivateFiles;
import io.foliot.store.rocksdb.RocksDbStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Creates a data folder from a backup. */
@Command(name = "restore", description = "Creates a data folder from a backup. No server is needed.", footer = {"",
    "Example", "  foliot restore --from /backups/2026-11-21 --data foliot-restored",
    "  foliot server --data foliot-restored"})
final class RestoreCommand implements Callable<Integer> {
  private final Shell shell;

  @Option(names = "--from", paramLabel = "DIR", required = true, description = "the folder of the backup")
  private Path from = Path.of("");

  @Option(names = "--data", paramLabel = "DIR", required = true, description = "a new or empty data folder")
  private Path data = Path.of("");

  @Mixin
  private final JsonOption json = new JsonOption();

  RestoreCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    Path source = from.toAbsolutePath().normalize();
    Path target = data.toAbsolutePath().normalize();
    if (!Files.isDirectory(source)) {
      throw CommandException.failure("there is no folder " + source + ": name the folder that backup --to wrote");
    }
    Folders.ensureEmpty("--data", target);
    long begun = System.nanoTime();
    Progress.during(shell, "restore", target, () -> restore(source, target));
    double seconds = (System.nanoTime() - begun) / 1e9;
    long bytes = Folders.bytes(target);
    if (json.isSet()) {
      shell.line(new CommandOutput().add("data", target).add("bytes", bytes).add("seconds", seconds).json());
    } else {
      shell.line("restored to " + target + ", " + Words.bytes(bytes) + ", after " + Words.seconds(seconds)
          + "; ./foliot server --data " + target + " serves it");
    }
    return ExitCode.OK;
  }

  private static Path restore(Path source, Path target) {
    try {
      PrivateFiles.ensureFolder(target);
      RocksDbStore.restore(source, BackupCommand.storeFolder(target));
      return target;
    } catch (StoreException e) {
      throw CommandException.failure(String.valueOf(e.getMessage()), e);
    } catch (IOException e) {
      throw CommandException.failure("--data cannot be created: " + target + " (" + e.getMessage() + ")", e);
    }
  }
}
