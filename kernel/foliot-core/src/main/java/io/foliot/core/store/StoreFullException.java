package io.foliot.core.store;

/** Thrown when the only free space of a store is the space that it reserves for settles. Nothing was written. */
public final class StoreFullException extends StoreException {
  private static final long serialVersionUID = 1;

  /** Creates an exception whose message says how much space is free and how much must be free. */
  public StoreFullException(String message) {
    super(message, null);
  }
}
