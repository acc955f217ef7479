package io.foliot.cli;

import io.foliot.core.store.StoreException;
import io.foliot.store.rocksdb.RocksDbOptions;
import io.foliot.store.rocksdb.RocksDbStore;
import io.foliot.store.rocksdb.VerifyReport;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Reads a data folder and reports damage. */
@Command(name = "verify", description = {"Reads a whole data folder and reports damage. Changes nothing.",
    "The server of the folder must be stopped. To check a backup, restore it into a new folder first."}, footer = {"",
        "Exit code 1 if something is damaged or the folder cannot be read.", "", "Example",
        "  foliot verify --data /var/lib/foliot"})
final class VerifyCommand implements Callable<Integer> {
  private final Shell shell;

  @Option(names = "--data", paramLabel = "DIR", required = true, description = "the data folder to read")
  private Path data = Path.of("");

  @Mixin
  private final JsonOption json = new JsonOption();

  VerifyCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    Path folder = data.toAbsolutePath().normalize();
    long begun = System.nanoTime();
    VerifyReport report = verify(BackupCommand.storeFolder(folder));
    double seconds = (System.nanoTime() - begun) / 1e9;
    if (json.isSet()) {
      shell.line(output(folder, report, seconds).json());
    } else {
      print(folder, report, seconds);
    }
    return report.isWhole() ? ExitCode.OK : ExitCode.FAILURE;
  }

  private VerifyReport verify(Path store) {
    try {
      return Progress.during(shell, "verify",
          progress -> RocksDbStore.verify(store, RocksDbOptions.DEFAULT, progress));
    } catch (StoreException e) {
      throw CommandException.failure(String.valueOf(e.getMessage()), e);
    }
  }

  private static CommandOutput output(Path folder, VerifyReport report, double seconds) {
    CommandOutput read = new CommandOutput();
    report.read().forEach(read::add);
    List<CommandOutput> damages = report.damages().stream()
        .map(damage -> new CommandOutput().add("where", damage.where())
            .add("what", damage.what()).add("reason", damage.reason()))
        .toList();
    return new CommandOutput().add("data", folder).add("ok", report.isWhole()).add("read", read)
        .add("damageCount", report.damageCount()).add("damages", damages).add("seconds", seconds);
  }

  private void print(Path folder, VerifyReport report, double seconds) {
    for (VerifyReport.Damage damage : report.damages()) {
      shell.line(shell.in(Colour.RED, "damaged") + "  " + damage.where() + "  "
          + Shell.plain(damage.what() + ": " + damage.reason()));
    }
    long notListed = report.damageCount() - report.damages().size();
    if (notListed > 0) {
      shell.line("... and " + notListed + " more");
    }
    String read = report.read().entrySet().stream().map(each -> each.getValue() + " " + each.getKey())
        .collect(Collectors.joining(", "));
    shell.line((report.isWhole()
        ? "nothing is damaged"
        : Words.number(report.damageCount(), "damage")
            + " found; keep the folder as it is, and restore the newest backup")
        + ": data=" + folder + ", after " + Words.seconds(seconds) + (read.isEmpty() ? "" : "; read: " + read));
  }
}
