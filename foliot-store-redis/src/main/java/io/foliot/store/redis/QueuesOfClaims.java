package io.foliot.store.redis;

import io.foliot.core.TaskId;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The queues of tasks that were claimed here: a settle does not name its queue, and the script must know how long a finished
 * task is kept. What is not known here takes the general path. Any thread.
 */
final class QueuesOfClaims {
  /** A generation of these is some 10 MB; two are held. */
  private static final int MAX_PER_GENERATION = 100_000;

  private volatile ConcurrentMap<TaskId, String> young = new ConcurrentHashMap<>();
  private volatile ConcurrentMap<TaskId, String> old = new ConcurrentHashMap<>();

  void remember(TaskId id, String queue) {
    ConcurrentMap<TaskId, String> map = young;
    map.put(id, queue);
    if (map.size() >= MAX_PER_GENERATION) {
      turn(map);
    }
  }

  private synchronized void turn(ConcurrentMap<TaskId, String> full) {
    if (young == full) {
      old = full;
      young = new ConcurrentHashMap<>();
    }
  }

  @Nullable
  String of(TaskId id) {
    String queue = young.get(id);
    return queue == null ? old.get(id) : queue;
  }

  void forget(TaskId id) {
    if (young.remove(id) == null) {
      old.remove(id);
    }
  }
}
