package io.foliot.core.store.format;

import org.jspecify.annotations.Nullable;

/** The bytes are those that were written, of a version that is known, and make no sense: their writer had a bug. */
public final class MalformedException extends UnreadableException {
  private static final long serialVersionUID = 1;

  public MalformedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
