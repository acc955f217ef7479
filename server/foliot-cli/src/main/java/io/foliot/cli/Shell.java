package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.InputStream;
import java.io.PrintStream;
import java.util.Map;

/**
 * The environment that a command was started from.
 *
 * @param in the standard input
 * @param out the standard output, for results only: another program may read them
 * @param err the standard error, for progress and messages
 * @param environment the environment variables
 * @param terminal whether {@code out} is a terminal
 */
record Shell(InputStream in, PrintStream out, PrintStream err, Map<String, String> environment, boolean terminal) {
  /** System property that is true if the standard output is a terminal. The start script sets it. */
  private static final String TERMINAL = "foliot.terminal";

  Shell {
    environment = Map.copyOf(environment);
  }

  /** Returns the shell of this process. */
  static Shell ofProcess() {
    boolean terminal = Boolean.getBoolean(TERMINAL);
    // Keys and payloads are printed as UTF-8, regardless of the locale of the terminal.
    return new Shell(System.in, new PrintStream(System.out, true, UTF_8), new PrintStream(System.err, true, UTF_8),
        System.getenv(), terminal);
  }

  /** Returns a variable's value; empty if it is not set. */
  String variable(String name) {
    return environment.getOrDefault(name, "");
  }

  /**
   * Returns whether output may have colours. It may on a terminal, unless the user has switched colours off
   * (https://no-color.org).
   */
  boolean colours() {
    return terminal && variable("NO_COLOR").isEmpty() && !variable("TERM").equals("dumb");
  }

  /** Returns a text in a colour; the text itself if output has no colours. */
  String in(Colour colour, String text) {
    return colours() ? colour.code() + text + Colour.END : text;
  }

  void line(String text) {
    out.println(text);
  }

  void error(String text) {
    err.println(text);
  }

  /**
   * Returns the text with each control character replaced by U+FFFD. Keys and reasons come from other people, and their
   * control characters could move the cursor or change colours.
   */
  static String plain(String text) {
    if (text.chars().noneMatch(Character::isISOControl)) {
      return text;
    }
    StringBuilder plain = new StringBuilder();
    text.chars().forEach(c -> plain.append(Character.isISOControl(c) ? '\uFFFD' : (char) c));
    return plain.toString();
  }
}
