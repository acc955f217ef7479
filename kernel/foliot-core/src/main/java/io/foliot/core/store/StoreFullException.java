package io.foliot.core.store;

/** Thrown when a store has too little free space to accept a call. The call wrote nothing. */
public final class StoreFullException extends StoreException {
  private static final long serialVersionUID = 1;

  /** Creates an exception whose message says why the store has no space. */
  public StoreFullException(String message) {
    super(message, null);
  }
}
