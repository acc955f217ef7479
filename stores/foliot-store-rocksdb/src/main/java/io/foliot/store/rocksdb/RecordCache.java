package io.foliot.store.rocksdb;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.KeyName;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Committed live records that are likely to be read again: those with a key (for touches) and those that run (for
 * settles). The least recently used record is evicted first. Only the writer thread uses the cache, so it is never
 * stale.
 *
 * <p>When the cache is full, one in {@value #ADMITS_ONE_IN} of the records that do not run is admitted, at random.
 * Suppose that all were admitted, and that tasks were touched in turn, more of them than fit into the cache. Each
 * record would be evicted before it is read again, so there would be no hits. The evicted records would already be in
 * the old generation of the heap, and their collection causes long pauses. A key that is touched often is admitted
 * soon. A record that was just created and is due in more than an hour is not admitted, because a million such records
 * would fill the cache without a hit.
 *
 * <p>A cache library was rejected. Such a library is made for many threads and evicts with a delay, and a second map by
 * key would have to follow the evictions. Each write would pay for this.
 */
final class RecordCache {
  /**
   * Heap of a record's objects and of its entries in both maps, without the payload. Measured with compact object
   * headers: 450 bytes for a record with a payload of 100 bytes.
   */
  private static final int BYTES_PER_RECORD = 340;
  private static final int BYTES_PER_ATTEMPT = 80;
  private static final int ADMITS_ONE_IN = 16;
  /** Maximum delay of a new task. If the task is due later, its new record is not admitted. */
  private static final long FAR_MILLIS = 3_600_000;

  private final long maxBytes;
  private final LinkedHashMap<TaskId, TaskRecord> byId = new LinkedHashMap<>(1024, 0.75f, true);
  private final Map<KeyName, TaskId> byKey = new HashMap<>();
  // written by the writer, read by any thread
  private volatile long publishedBytes;
  private volatile int publishedSize;
  private long bytes;

  RecordCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns the record of a task, which counts as used, or null if it is not cached. */
  @Nullable
  TaskRecord get(TaskId id) {
    return byId.get(id);
  }

  /** Returns the id of the cached task that has a key, or null. Does not count as a use of the record. */
  @Nullable
  TaskId holder(KeyName name) {
    return byKey.get(name);
  }

  /** Returns whether a task is cached. Does not count as a use of its record. */
  boolean contains(TaskId id) {
    return byId.containsKey(id);
  }

  /**
   * Caches a committed record, if it is admitted. Otherwise only removes its older version from the cache. A record
   * that replaces its older version, as after each touch, needs one access to one map.
   *
   * @param isNew whether the commit has created the task
   */
  void put(TaskRecord record, boolean isNew) {
    if (!record.isLive() || (record.key() == null && record.state() != TaskState.RUNNING)) {
      remove(record.id());
    } else {
      TaskRecord old = byId.replace(record.id(), record);
      if (old != null) {
        bytes += weight(record) - weight(old);
      } else if (isAdmitted(record, isNew)) {
        byId.put(record.id(), record);
        if (record.key() != null) {
          byKey.put(new KeyName(record.queue(), record.key()), record.id());
        }
        bytes += weight(record);
      }
    }
    Iterator<TaskRecord> eldest = byId.values().iterator();
    while (bytes > maxBytes && eldest.hasNext()) {
      TaskRecord leaving = eldest.next();
      eldest.remove();
      forget(leaving);
    }
    publish();
  }

  private void publish() {
    publishedBytes = bytes;
    publishedSize = byId.size();
  }

  /**
   * Returns whether a record is admitted. Running records are always admitted. The class comment gives the rules for
   * all others.
   */
  private boolean isAdmitted(TaskRecord record, boolean isNew) {
    if (record.state() == TaskState.RUNNING) {
      return true;
    }
    // A touch leaves changedAt as it is, so the times of a record do not show whether it is new.
    boolean isFar = isNew && record.dueAt() - record.createdAt() > FAR_MILLIS;
    return !isFar && (bytes < maxBytes - weight(record) || ThreadLocalRandom.current().nextInt(ADMITS_ONE_IN) == 0);
  }

  private void remove(TaskId id) {
    TaskRecord old = byId.remove(id);
    if (old != null) {
      forget(old);
    }
  }

  private void forget(TaskRecord record) {
    bytes -= weight(record);
    if (record.key() != null) {
      // The key may already belong to a later task.
      byKey.remove(new KeyName(record.queue(), record.key()), record.id());
    }
  }

  /** Returns the estimated heap of a record, in bytes. */
  private static long weight(TaskRecord record) {
    long weight = BYTES_PER_RECORD + record.body().payload().length
        + (long) record.attempts().size() * BYTES_PER_ATTEMPT;
    if (record.key() != null) {
      weight += record.key().length() * 2L;
    }
    for (Map.Entry<String, String> header : record.body().headers().entrySet()) {
      weight += 64L + header.getKey().length() + header.getValue().length();
    }
    for (AttemptRecord attempt : record.attempts()) {
      weight += attempt.detail().length();
    }
    TaskRecord.Noted noted = record.noted();
    if (noted != null) {
      String checkpoint = noted.note().checkpoint();
      weight += 100L + noted.note().message().length() + noted.note().log().length()
          + (checkpoint == null ? 0 : checkpoint.length());
    }
    TaskRecord.Successor successor = record.successor();
    if (successor != null && successor.body() != null) {
      weight += successor.body().payload().length;
    }
    return weight;
  }

  int size() {
    return publishedSize;
  }

  long bytes() {
    return publishedBytes;
  }
}
