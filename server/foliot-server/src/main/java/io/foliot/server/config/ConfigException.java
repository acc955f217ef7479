package io.foliot.server.config;

/** A mistake in the configuration. */
public final class ConfigException extends RuntimeException {
  private static final long serialVersionUID = 1;
  /** Exit code of the process, the same as for a mistyped option. */
  public static final int EXIT_CODE = 2;

  /** Creates the exception with one line for people. */
  public ConfigException(String message) {
    super(message);
  }
}
