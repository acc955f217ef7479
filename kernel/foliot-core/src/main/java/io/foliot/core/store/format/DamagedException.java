package io.foliot.core.store.format;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when bytes differ from those that were written: a checksum does not match, a part is missing, or a file was
 * changed.
 */
public final class DamagedException extends UnreadableException {
  private static final long serialVersionUID = 1;

  public DamagedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
