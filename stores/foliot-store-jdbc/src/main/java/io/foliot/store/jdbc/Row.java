package io.foliot.store.jdbc;

import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.UnreadableException;
import org.jspecify.annotations.Nullable;

/**
 * A record as it was read.
 *
 * @param record live or kept; where it cannot be read, the values of its columns, without payload, attempts and
 *     successor
 * @param version changes with every write of a live record; 0 for one that is kept
 * @param damage why it cannot be read, or null if it can
 */
record Row(TaskRecord record, long version, @Nullable UnreadableException damage) {
  private static final long KEPT_VERSION = 0;

  Row(TaskRecord record, long version) {
    this(record, version, null);
  }

  static boolean isLive(long version) {
    return version != KEPT_VERSION;
  }

  /** Returns whether it would be read again and again in vain. */
  boolean isToSetAside() {
    return damage != null && !(damage instanceof NewerVersionException) && isLive(version);
  }

  /** Returns whether only a newer version of Foliot can change it. */
  boolean isOfNewerVersion() {
    return damage instanceof NewerVersionException && isLive(version);
  }
}
