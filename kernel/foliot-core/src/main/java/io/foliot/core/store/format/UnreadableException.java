package io.foliot.core.store.format;

import io.foliot.core.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when stored bytes cannot be read. The three cases require different actions, so each is a class of its own: a
 * store may have to stop for damaged bytes, sets malformed ones aside, and leaves those of a newer version unchanged.
 */
public abstract sealed class UnreadableException extends StoreException
    permits DamagedException, MalformedException, NewerVersionException {
  private static final long serialVersionUID = 1;

  UnreadableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
