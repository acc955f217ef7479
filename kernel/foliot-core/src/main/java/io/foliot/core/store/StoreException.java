package io.foliot.core.store;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store is unavailable, closed or broken. Whether the call took effect is unknown, unless the exception
 * is a {@link StoreAwayException}.
 */
public class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates an exception whose message says what happened and what to do. */
  public StoreException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
