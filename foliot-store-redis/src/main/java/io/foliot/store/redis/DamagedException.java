package io.foliot.store.redis;

import io.foliot.core.store.StoreException;
import org.jspecify.annotations.Nullable;

/** What was read is not what was written. */
public final class DamagedException extends StoreException {
  private static final long serialVersionUID = 1;

  DamagedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
