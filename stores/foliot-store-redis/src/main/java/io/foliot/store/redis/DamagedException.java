package io.foliot.store.redis;

import io.foliot.core.store.StoreException;
import org.jspecify.annotations.Nullable;

/** What was read is not what was written, or a newer version of Foliot wrote it. */
public final class DamagedException extends StoreException {
  private static final long serialVersionUID = 1;

  private final boolean newer;

  DamagedException(String message, @Nullable Throwable cause) {
    this(message, cause, false);
  }

  private DamagedException(String message, @Nullable Throwable cause, boolean newer) {
    super(message, cause);
    this.newer = newer;
  }

  /** For a version that this Foliot does not know. */
  static DamagedException newer(String message) {
    return new DamagedException(message, null, true);
  }

  /** Whether a newer version of Foliot can read it. */
  boolean isNewer() {
    return newer;
  }
}
