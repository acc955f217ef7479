package io.foliot.cli;

import org.jspecify.annotations.Nullable;

/** Failure of a command. The message states the reason and the remedy, for people. */
final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int exitCode;

  private CommandException(int exitCode, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /** Returns an exception for a command that failed although its command line is valid. */
  static CommandException failure(String message) {
    return new CommandException(ExitCode.FAILURE, message, null);
  }

  static CommandException failure(String message, Throwable cause) {
    return new CommandException(ExitCode.FAILURE, message, cause);
  }

  /** Returns an exception for an invalid command line. */
  static CommandException usage(String message) {
    return new CommandException(ExitCode.USAGE, message, null);
  }

  /** Fails if a number is given that is not positive. */
  static void ensurePositive(String option, @Nullable Integer given) {
    if (given != null && given < 1) {
      throw usage(option + ": expected a positive number, but got \"" + given + '"');
    }
  }

  int exitCode() {
    return exitCode;
  }
}
