package io.foliot.core.store.format;

import io.foliot.core.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when stored bytes cannot be read. Each of the three cases has its own class, because they require different
 * actions: a store may have to stop because of damaged bytes, sets malformed records aside, and leaves bytes of a newer
 * version unchanged.
 */
public abstract sealed class UnreadableException extends StoreException
    permits DamagedException, MalformedException, NewerVersionException {
  private static final long serialVersionUID = 1;

  UnreadableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
