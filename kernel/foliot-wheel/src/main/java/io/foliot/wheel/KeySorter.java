package io.foliot.wheel;

import java.util.Arrays;

/**
 * Sorts the keys of a {@link DueQueue}. Not thread-safe.
 *
 * <p>The keys are distributed into buckets of equal width, a few keys to each, and then sorted by insertion. Deadlines
 * are usually spread over a slot, so that an insertion moves about one key. If it turns out that many more keys move,
 * the library sorts the keys.
 */
final class KeySorter {
  /*
   * Each pass over the keys calls a method for each block of keys. A JVM that has just started interprets a method
   * until it has counted enough calls, or very many turns of a loop. One loop over all keys of a slot would be
   * interpreted for the first 60,000 keys; a method for a block is compiled after 6,400.
   */
  private static final int BLOCK = 64;

  /** Base-2 logarithm of the mean number of keys in a bucket. */
  private static final int KEYS_PER_BUCKET_BITS = 1;

  /** Mean number of moves per key from which on the library sorts the keys. */
  private static final int MAX_MOVES_PER_KEY = 16;

  /** Longest arrays that are kept. */
  private static final int MAX_KEPT = 1 << 13;

  private static final long[] NONE = {};
  private static final int[] NO_BUCKETS = {};

  private long[] sorted = NONE;

  /** Number of keys in each bucket, and then the index at which the next key of each bucket is put. */
  private int[] buckets = NO_BUCKETS;

  private long least;
  private int shift;

  /**
   * Sorts different keys.
   *
   * @param keys an array that the sorter may keep
   * @param count the number of keys, which begin at the index 0
   * @param least a lower bound of the keys
   * @param most an upper bound of the keys
   * @return an array, at least as long as the given one, that begins with the sorted keys
   */
  long[] sort(long[] keys, int count, long least, long most) {
    // There are at least two buckets, because a shift by 64 would be a shift by 0.
    int bucketBits = Math.max(1, Integer.SIZE - 1 - Integer.numberOfLeadingZeros(count) - KEYS_PER_BUCKET_BITS);
    reserve(keys.length, 1 << bucketBits);
    this.least = least;
    shift = Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(most - least) - bucketBits);
    long[] target = sorted;
    for (int from = 0; from < count; from += BLOCK) {
      count(keys, from, Math.min(from + BLOCK, count));
    }
    addUp(1 << bucketBits);
    for (int from = 0; from < count; from += BLOCK) {
      distribute(keys, target, from, Math.min(from + BLOCK, count));
    }
    long moves = 0;
    for (int from = 0; from < count; from += BLOCK) {
      moves += insert(target, from, Math.min(from + BLOCK, count));
      if (moves > (long) count * MAX_MOVES_PER_KEY) {
        Arrays.sort(target, 0, count);
        break;
      }
    }
    sorted = keys.length > MAX_KEPT ? NONE : keys;
    if (buckets.length > MAX_KEPT) {
      buckets = NO_BUCKETS;
    }
    return target;
  }

  private void reserve(int capacity, int bucketCount) {
    if (sorted.length < capacity) {
      sorted = new long[capacity];
    }
    if (buckets.length < bucketCount) {
      buckets = new int[bucketCount];
    } else {
      Arrays.fill(buckets, 0, bucketCount, 0);
    }
  }

  private void count(long[] keys, int from, int to) {
    for (int i = from; i < to; i++) {
      buckets[(int) ((keys[i] - least) >>> shift)]++;
    }
  }

  /** Replaces the number of keys in each bucket by the number of keys in the buckets before it. */
  private void addUp(int bucketCount) {
    int before = 0;
    for (int from = 0; from < bucketCount; from += BLOCK) {
      before = addUp(from, Math.min(from + BLOCK, bucketCount), before);
    }
  }

  private int addUp(int from, int to, int before) {
    int sum = before;
    for (int i = from; i < to; i++) {
      int keys = buckets[i];
      buckets[i] = sum;
      sum += keys;
    }
    return sum;
  }

  private void distribute(long[] keys, long[] target, int from, int to) {
    for (int i = from; i < to; i++) {
      long key = keys[i];
      target[buckets[(int) ((key - least) >>> shift)]++] = key;
    }
  }

  /** Inserts keys into the sorted keys before them, and returns the number of keys that have moved. */
  private static int insert(long[] keys, int from, int to) {
    int moves = 0;
    for (int i = from; i < to; i++) {
      long key = keys[i];
      int at = i;
      for (; at > 0 && keys[at - 1] > key; at--) {
        keys[at] = keys[at - 1];
      }
      keys[at] = key;
      moves += i - at;
    }
    return moves;
  }
}
