package io.foliot.store.redis;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * A cache of recent facts, which may be dropped at any time: two generations of a map, of which the older is dropped
 * when the younger is full. Reads do not count as use. Thread-safe.
 *
 * <p>Each claim, touch and settle of the store reads or writes the cache, so a read is no more than one of a map.
 * Rejected: a cache library, which records each read to choose what to evict. A fact that is dropped here costs only
 * one more call.
 *
 * @param <K> type of the keys
 * @param <V> type of the facts
 */
final class Recent<K, V> {
  private final int maxPerGeneration;

  private volatile ConcurrentMap<K, V> young = new ConcurrentHashMap<>();
  private volatile ConcurrentMap<K, V> old = new ConcurrentHashMap<>();

  /** Creates a cache of at most twice {@code maxPerGeneration} facts. */
  Recent(int maxPerGeneration) {
    this.maxPerGeneration = maxPerGeneration;
  }

  void remember(K key, V value) {
    ConcurrentMap<K, V> map = young;
    if (!value.equals(map.put(key, value)) && map.size() >= maxPerGeneration) {
      turn(map);
    }
  }

  private synchronized void turn(ConcurrentMap<K, V> full) {
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
