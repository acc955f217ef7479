package io.foliot.core.store.format;

import io.foliot.core.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when stored bytes cannot be read. Each of the three cases has its own class, because they require different
 * actions. Damaged bytes may force a store to stop. A store sets malformed records aside, and does not change bytes of
 * a newer version.
 */
public abstract sealed class UnreadableException extends StoreException
    permits DamagedException, MalformedException, NewerVersionException {
  private static final long serialVersionUID = 1;

  UnreadableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
