package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import org.jspecify.annotations.Nullable;

/** A record is as it was written, and this Foliot does not understand it: a newer one wrote it, or one with a bug. */
final class UnreadableException extends StoreException {
  private static final long serialVersionUID = 1;

  UnreadableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
