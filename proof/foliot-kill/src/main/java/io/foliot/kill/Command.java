package io.foliot.kill;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs programs of the machine. */
final class Command {
  private static final Duration BOUND = Duration.ofSeconds(60);

  private Command() {}

  /**
   * Runs a program to its end.
   *
   * @throws IOException also if it fails, with what it printed
   */
  static void run(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    try {
      if (!process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException("a command did not end in time: " + List.of(command));
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    if (process.exitValue() != 0) {
      throw new IOException("a command failed: " + command[0] + ": " + told);
    }
  }

  /** As {@link #run}, where a failure is not expected. */
  static void runOrFail(String... command) {
    try {
      run(command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
