package io.foliot.core.store;

import org.jspecify.annotations.Nullable;

/** The store is unavailable, closed or broken; whether the call took effect is unknown. */
public class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With what happened and what to do. */
  public StoreException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
