package io.foliot.core.store.format;

import io.foliot.core.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Stored bytes cannot be read. The three cases call for different acts, so each is a class of its own: a store may have
 * to stop for the first, sets the second aside, and leaves the third alone.
 */
public abstract sealed class UnreadableException extends StoreException
    permits DamagedException, MalformedException, NewerVersionException {
  private static final long serialVersionUID = 1;

  UnreadableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
