package io.foliot.engine.migration;

/** A migration cannot go on, for a reason that somebody can do something about. */
public final class MigrationException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With what is wrong, and what to do. */
  public MigrationException(String message) {
    super(message);
  }
}
