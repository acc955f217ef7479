package io.foliot.core.store.format;

/** Thrown when intact bytes were written by a newer version of Foliot; only that version may change them. */
public final class NewerVersionException extends UnreadableException {
  private static final long serialVersionUID = 1;

  public NewerVersionException(String message) {
    super(message, null);
  }
}
