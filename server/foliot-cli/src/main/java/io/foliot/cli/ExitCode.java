package io.foliot.cli;

/** The exit codes of the command. */
final class ExitCode {
  /** The command has done what was asked. */
  static final int OK = 0;
  /** The command has failed. */
  static final int FAILURE = 1;
  /** The command line is wrong, and nothing was done. */
  static final int USAGE = 2;

  private ExitCode() {}
}
