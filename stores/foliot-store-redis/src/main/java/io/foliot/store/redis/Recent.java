package io.foliot.store.redis;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * A cache of recent facts, which may be forgotten at any time: two generations of a map, of which the older goes when
 * the younger is full. Reads do not count as use. Any thread.
 *
 * <p>Each claim, touch and settle of the store reads or writes it, so a read is a read of a map and nothing else.
 * Rejected: a cache library, which notes each read to know what to evict; what is forgotten here costs one more call.
 *
 * @param <K> what is asked for
 * @param <V> what was learnt of it
 */
final class Recent<K, V> {
  private final int maxPerGeneration;

  private volatile ConcurrentMap<K, V> young = new ConcurrentHashMap<>();
  private volatile ConcurrentMap<K, V> old = new ConcurrentHashMap<>();

  /** One that holds at most twice so many. */
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
