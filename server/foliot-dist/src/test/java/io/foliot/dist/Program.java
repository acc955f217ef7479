package io.foliot.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A program that has ended: its exit code, its standard output and its standard error. */
record Program(int exitCode, String out, String err) {
  private static final int BOUND_SECONDS = 60;

  /** Runs a program to its end with exactly these environment variables. */
  static Program run(Map<String, String> environment, List<String> command) throws IOException, InterruptedException {
    Path out = Files.createTempFile("foliot", ".out");
    Path err = Files.createTempFile("foliot", ".err");
    try {
      ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
      builder.environment().clear();
      builder.environment().putAll(environment);
      Process process = builder.start();
      try {
        assertThat(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)).as("%s ends", command).isTrue();
      } finally {
        process.destroyForcibly();
      }
      return new Program(process.exitValue(), Files.readString(out, StandardCharsets.UTF_8),
          Files.readString(err, StandardCharsets.UTF_8));
    } finally {
      Files.delete(out);
      Files.delete(err);
    }
  }

  /** Returns the standard output of a program of the machine that must succeed. */
  static String output(String... command) throws IOException, InterruptedException {
    Program program = run(Map.of("PATH", System.getenv("PATH"), "LC_ALL", "C", "TZ", "UTC"), List.of(command));
    assertThat(program.exitCode()).as(program.err()).isZero();
    return program.out();
  }
}
