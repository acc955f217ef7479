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

/** Runs programs of the machine to their end. */
public final class Command {
  private static final Duration BOUND = Duration.ofMinutes(2);

  /** The standard input of programs that get none. */
  private static final Path NOTHING = Path.of("/dev/null");

  /** Enough for the reason and what led to it. */
  private static final int TAIL_LINES = 30;

  private Command() {}

  /**
   * Runs a program whose failure is not expected.
   *
   * @throws UncheckedIOException if it fails, with what it printed
   */
  public static void run(String... command) {
    try {
      attempt(command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As {@link #run(String...)}, with a file as the program's input. */
  static void run(List<String> command, Path input) {
    try {
      attempt(command, input);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Runs a program that may fail.
   *
   * @throws IOException if it cannot be started, fails, or does not end in time, with what it printed
   */
  public static void attempt(String... command) throws IOException {
    attempt(List.of(command), NOTHING);
  }

  private static void attempt(List<String> command, Path input) throws IOException {
    Path told = Files.createTempFile("foliot-command", ".log");
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectInput(input.toFile())
          .redirectOutput(Redirect.to(told.toFile())).start();
      boolean ended = process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS);
      if (!ended) {
        process.destroyForcibly();
      }
      if (!ended || process.exitValue() != 0) {
        throw new IOException("a program must end well: program=" + command.getFirst() + ", exit="
            + (ended ? process.exitValue() : "not within " + BOUND) + ", it printed:\n" + tail(told));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a program ran: program=" + command.getFirst(), e);
    } finally {
      Files.delete(told);
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
