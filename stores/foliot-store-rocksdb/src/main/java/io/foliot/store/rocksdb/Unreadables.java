package io.foliot.store.rocksdb;

import io.foliot.core.TaskId;
import io.foliot.core.store.format.UnreadableException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The tasks that are set aside because this Foliot cannot read their records, although the checksums match. Their bytes
 * are left unchanged for the version of Foliot that wrote them. Scans skip these tasks, so they are not found
 * repeatedly. Thread-safe.
 */
final class Unreadables {
  private static final System.Logger LOG = System.getLogger(Unreadables.class.getName());

  private final Set<TaskId> ids = ConcurrentHashMap.newKeySet();

  /** Sets a task aside, and logs it the first time. */
  void add(TaskId id, UnreadableException reason) {
    if (ids.add(id)) {
      LOG.log(System.Logger.Level.ERROR,
          "the record of a task cannot be read; the task is not fired, and its record is left unchanged for the "
              + "version of Foliot that wrote it: task={0}, reason={1}",
          id, reason.getMessage());
    }
  }

  boolean contains(TaskId id) {
    return !ids.isEmpty() && ids.contains(id);
  }

  int count() {
    return ids.size();
  }
}
