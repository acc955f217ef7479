package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.Map;

/** The exit code and the output of a command. */
record Outcome(int exitCode, String out, String err) {
  /** Runs a command in this process, without a terminal. */
  static Outcome of(Map<String, String> environment, String... words) {
    return withInput(environment, "", words);
  }

  /** Runs a command in this process with text on its standard input. */
  static Outcome withInput(Map<String, String> environment, String in, String... words) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Shell shell = new Shell(new ByteArrayInputStream(in.getBytes(UTF_8)), new PrintStream(out, true, UTF_8),
        new PrintStream(err, true, UTF_8), environment, false);
    int exitCode = FoliotCommand.run(shell, words);
    return new Outcome(exitCode, out.toString(UTF_8), err.toString(UTF_8));
  }
}
