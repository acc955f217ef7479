package io.foliot.core.store;

import org.jspecify.annotations.Nullable;

/** Thrown when the store cannot be reached and the call was not sent: nothing has changed. */
public final class StoreAwayException extends StoreException {
  private static final long serialVersionUID = 1;

  /** Creates an exception whose message says why the store cannot be reached. */
  public StoreAwayException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
