package io.foliot.cli;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints the figures of a queue every second. */
@Command(name = "watch", description = "Prints a line per second with the counts of a queue, its rate and its lag.")
final class QueueWatchCommand implements Callable<Integer> {
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss")
      .withZone(ZoneId.systemDefault());

  private final Shell shell;

  @Parameters(paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Option(names = "--count", paramLabel = "N", description = "end after this many lines")
  private @Nullable Integer count;

  @Mixin
  private final ServerOption server = new ServerOption();

  QueueWatchCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    CommandException.ensurePositive("--count", count);
    try (ServerConnection remote = server.open(shell)) {
      // If the first read fails, the address, the key or the name is most likely wrong, so the command fails. Later
      // reads are retried.
      String line = line(remote);
      long next = System.nanoTime();
      for (int shown = 1;; shown++) {
        shell.line(TIME.format(Instant.now()) + "  " + line);
        if ((count != null && shown >= count) || shell.out().checkError()) {
          return ExitCode.OK;
        }
        next += REFRESH_NANOS;
        for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
          LockSupport.parkNanos(left);
        }
        line = lineOrFailure(remote);
      }
    }
  }

  private String lineOrFailure(ServerConnection remote) {
    try {
      return line(remote);
    } catch (CommandException e) {
      return e.getMessage() + "; trying again every second";
    }
  }

  private String line(ServerConnection remote) {
    JsonView view = JsonView.parse(remote.get("/v1/queues/" + ServerConnection.segment(queue)));
    JsonView stats = view.at("stats");
    StringBuilder line = new StringBuilder();
    for (String state : new String[]{"delayed", "parked", "running", "finished", "failed", "cancelled"}) {
      line.append(state).append(' ').append(Words.count(stats.at("counts", state).decimal())).append("  ");
    }
    return line.append(Words.count(stats.at("settledPerSecond").decimal())).append("/s  lag ")
        .append(Words.rough(stats.at("lag").text())).append(view.at("paused").isTrue() ? "  (paused)" : "").toString();
  }
}
