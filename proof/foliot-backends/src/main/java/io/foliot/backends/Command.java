package io.foliot.backends;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs programs to their end. */
final class Command {
  private static final Duration BOUND = Duration.ofMinutes(2);

  /** What programs read that are given nothing. */
  private static final Path NOTHING = Path.of("/dev/null");

  /** Enough for the reason and what led to it. */
  private static final int TAIL_LINES = 30;

  private Command() {}

  static void run(List<String> command) {
    run(command, NOTHING);
  }

  /** Runs a program with a file as its input, and fails with what it printed if it does. */
  static void run(List<String> command, Path input) {
    try {
      Path told = Files.createTempFile("foliot-command", ".log");
      try {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectInput(input.toFile())
            .redirectOutput(Redirect.to(told.toFile())).start();
        boolean ended = process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS);
        if (!ended) {
          process.destroyForcibly();
        }
        if (!ended || process.exitValue() != 0) {
          throw new IllegalStateException("a program must end well: program=" + command.getFirst() + ", exit="
              + (ended ? process.exitValue() : "not within " + BOUND) + ", it printed:\n" + tail(told));
        }
      } finally {
        Files.delete(told);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a program ran: program=" + command.getFirst(), e);
    }
  }

  /** The last lines of a log, which say why a server did not do what it should. */
  static String tail(Path log) {
    try {
      List<String> lines = Files.readString(log, StandardCharsets.UTF_8).lines().toList();
      return String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
    } catch (IOException e) {
      return "no log: " + e;
    }
  }
}
