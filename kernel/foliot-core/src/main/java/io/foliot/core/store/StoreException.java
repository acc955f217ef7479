package io.foliot.core.store;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store is unavailable, closed or broken. A subclass may state that the call changed nothing. Otherwise
 * it is unknown whether the call took effect.
 */
public class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates an exception whose message says what happened and what to do. */
  public StoreException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
