package io.foliot.core.store.format;

import org.jspecify.annotations.Nullable;

/** Thrown when bytes are intact and of a known version, but cannot be decoded: their writer had a bug. */
public final class MalformedException extends UnreadableException {
  private static final long serialVersionUID = 1;

  public MalformedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
