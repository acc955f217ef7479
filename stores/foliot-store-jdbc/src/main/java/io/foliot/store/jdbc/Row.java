package io.foliot.store.jdbc;

import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.UnreadableException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A row of the tables of tasks, decoded.
 *
 * @param record the record, live or final; if it cannot be decoded, only the values of its columns, without payload,
 *     attempts and successor
 * @param version the version of a live record, which changes with every write; 0 for a final record
 * @param damage why the record cannot be decoded, or null if it can
 */
record Row(TaskRecord record, long version, @Nullable UnreadableException damage) {
  private static final long FINAL_VERSION = 0;

  Row(TaskRecord record, long version) {
    this(record, version, null);
  }

  /**
   * Returns a random number of 62 bits. The versions of the rows that a call inserts begin here; a later write of a row
   * adds one to its version, or sets another random number. So no task is expected to have a version twice, not even if
   * it ends and becomes live again, and a write that compares versions affects only the life of the task that was read.
   */
  static long newVersions() {
    return ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE >>> 1);
  }

  static boolean isLive(long version) {
    return version != FINAL_VERSION;
  }

  /**
   * Returns whether the record is live and damaged. A record of a newer version is not damaged. A damaged record must
   * be set aside, because each poll would read it again.
   */
  boolean isToSetAside() {
    return damage != null && !(damage instanceof NewerVersionException) && isLive(version);
  }

  /** Returns whether the record is live, but was written by a newer version of Foliot and must not be changed here. */
  boolean isOfNewerVersion() {
    return damage instanceof NewerVersionException && isLive(version);
  }
}
