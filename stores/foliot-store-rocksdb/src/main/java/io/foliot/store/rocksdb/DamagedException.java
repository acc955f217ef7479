package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import org.jspecify.annotations.Nullable;

/** What was read is not what was written. The store closes itself. */
public final class DamagedException extends StoreException {
  private static final long serialVersionUID = 1;

  DamagedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
