package io.foliot.core;

/**
 * The 16-bit hash of a queue and a key, for the ids of tasks ({@link TaskId#hash16}). It belongs to the format of every
 * store and never changes. It is FNV-1a over the UTF-16 units of the queue and the key, followed by the first half of
 * the finalizer of MurmurHash3. The finalizer is needed because FNV mixes the low bits poorly.
 */
public final class SlotHash {
  private static final long FNV_OFFSET = 0xCBF2_9CE4_8422_2325L;
  private static final long FNV_PRIME = 0x100_0000_01B3L;

  private SlotHash() {}

  /** Returns the hash of a key within its queue, or of an idempotency key within its queue. */
  public static int of(String queue, String key) {
    long hash = add(FNV_OFFSET, queue);
    // Separates queue and key: U+FFFF is not a character.
    hash = (hash ^ 0xFFFF) * FNV_PRIME;
    hash = add(hash, key);
    hash ^= hash >>> 33;
    hash *= 0xFF51_AFD7_ED55_8CCDL;
    hash ^= hash >>> 33;
    return (int) hash & 0xFFFF;
  }

  private static long add(long hash, String text) {
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * FNV_PRIME;
    }
    return hash;
  }
}
