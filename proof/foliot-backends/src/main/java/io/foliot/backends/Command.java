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

/** Programs of this machine that run to their end. */
public final class Command {
  /** Longest time that a program may run. */
  private static final Duration BOUND = Duration.ofMinutes(2);

  /** Standard input of programs that read no input. */
  private static final Path NOTHING = Path.of("/dev/null");

  /** Number of lines of a log that a message quotes. */
  private static final int TAIL_LINES = 30;

  private Command() {}

  /**
   * Runs a program that is expected to succeed.
   *
   * @throws UncheckedIOException if {@link #attempt(String...)} throws an {@code IOException}; its cause is that
   *     exception
   */
  public static void run(String... command) {
    try {
      attempt(command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Runs a program as {@link #run(String...)} does, with a file as its input. */
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
   * @throws IOException if the program cannot be started, fails, or does not end in time. The message quotes the end of
   *     the program's output, if there is any
   */
  public static void attempt(String... command) throws IOException {
    attempt(List.of(command), NOTHING);
  }

  private static void attempt(List<String> command, Path input) throws IOException {
    Path output = Files.createTempFile("foliot-command", ".log");
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectInput(input.toFile())
          .redirectOutput(Redirect.to(output.toFile())).start();
      boolean ended = process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS);
      if (!ended) {
        process.destroyForcibly();
      }
      if (!ended || process.exitValue() != 0) {
        throw new IOException("a program failed: program=" + command.getFirst() + ", exit="
            + (ended ? process.exitValue() : "not within " + BOUND) + ", it printed:\n" + tail(output));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a program ran: program=" + command.getFirst(), e);
    } finally {
      Files.delete(output);
    }
  }

  /** Returns the last lines of a log, for the message of a failure. */
  static String tail(Path log) {
    try {
      List<String> lines = Files.readString(log, StandardCharsets.UTF_8).lines().toList();
      return String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
    } catch (IOException e) {
      return "no log: " + e;
    }
  }
}
