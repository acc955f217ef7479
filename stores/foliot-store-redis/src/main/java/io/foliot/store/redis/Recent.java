package io.foliot.store.redis;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * A cache of recent values, which may be dropped at any time. It consists of two maps. When the younger map is full, it
 * becomes the older map, and the previous older map is dropped. A read of a value does not keep the value in the cache
 * for longer. Thread-safe.
 *
 * <p>Claims, touches and settles of the store read or write such caches, so a read must cost no more than reads of two
 * maps. A cache library was rejected, because it records each read to decide which values to drop. Here, a dropped
 * value costs only one more call.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
final class Recent<K, V> {
  private final int maxPerMap;

  private volatile ConcurrentMap<K, V> young = new ConcurrentHashMap<>();
  private volatile ConcurrentMap<K, V> old = new ConcurrentHashMap<>();

  /** Creates a cache. Each of its two maps is full when it has this many values. */
  Recent(int maxPerMap) {
    this.maxPerMap = maxPerMap;
  }

  void remember(K key, V value) {
    ConcurrentMap<K, V> map = young;
    if (!value.equals(map.put(key, value)) && map.size() >= maxPerMap) {
      rotate(map);
    }
  }

  private synchronized void rotate(ConcurrentMap<K, V> full) {
    if (young == full) {
      old = full;
      young = new ConcurrentHashMap<>();
    }
  }

  @Nullable
  V of(K key) {
    V value = young.get(key);
    return value == null ? old.get(key) : value;
  }

  void forget(K key) {
    young.remove(key);
    old.remove(key);
  }
}
