package io.foliot.store.redis;

import io.foliot.core.TaskId;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Which task was last known under a key. A task keeps its key, and a key has one live task at most: if the one that is known
 * lives, it is the key's, and a touch need not ask for it. If it does not, the script says so. Any thread.
 */
final class KnownKeys {
  /** A generation of these is some 20 MB; two are held. */
  private static final int MAX_PER_GENERATION = 150_000;

  private volatile ConcurrentMap<String, TaskId> young = new ConcurrentHashMap<>();
  private volatile ConcurrentMap<String, TaskId> old = new ConcurrentHashMap<>();

  void remember(String name, TaskId id) {
    ConcurrentMap<String, TaskId> map = young;
    if (!id.equals(map.put(name, id)) && map.size() >= MAX_PER_GENERATION) {
      turn(map);
    }
  }

  private synchronized void turn(ConcurrentMap<String, TaskId> full) {
    if (young == full) {
      old = full;
      young = new ConcurrentHashMap<>();
    }
  }

  @Nullable
  TaskId of(String name) {
    TaskId id = young.get(name);
    return id == null ? old.get(name) : id;
  }

  void forget(String name) {
    young.remove(name);
    old.remove(name);
  }
}
