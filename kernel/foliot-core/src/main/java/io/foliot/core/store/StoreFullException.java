package io.foliot.core.store;

/** The store keeps its last room for settles: submits are refused, nothing was written. */
public final class StoreFullException extends StoreException {
  private static final long serialVersionUID = 1;

  /** Creates the exception with how much is free and how much must be. */
  public StoreFullException(String message) {
    super(message, null);
  }
}
