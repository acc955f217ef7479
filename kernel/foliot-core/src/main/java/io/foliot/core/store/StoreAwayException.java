package io.foliot.core.store;

import org.jspecify.annotations.Nullable;

/** The store cannot be reached, and was not asked: nothing was done. */
public final class StoreAwayException extends StoreException {
  private static final long serialVersionUID = 1;

  /** With what is in the way. */
  public StoreAwayException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
