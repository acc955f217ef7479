package io.foliot.bench.store;

import java.util.BitSet;

/**
 * Keys that concurrent callers reset. Each caller has keys of its own and resets them in turn, so no two callers reset
 * the same key. Each caller is one thread.
 */
final class LiveKeys {
  private final int keys;
  private final int callers;
  private final int batch;
  private final BitSet[] touched;

  /**
   * Creates keys, numbered from 0.
   *
   * @param keys the number of keys; it is raised, if necessary, to one batch for each caller
   * @param batch how many keys a call resets
   */
  LiveKeys(int keys, int callers, int batch) {
    this.keys = Math.max(keys, callers * batch);
    this.callers = callers;
    this.batch = batch;
    touched = new BitSet[callers];
    for (int caller = 0; caller < callers; caller++) {
      touched[caller] = new BitSet(this.keys);
    }
  }

  int count() {
    return keys;
  }

  /** Returns the first key of the batch that a call resets, and records all keys of the batch. */
  int first(int caller, int turn) {
    int turns = keys / (callers * batch);
    int first = (turn % turns * callers + caller) * batch;
    touched[caller].set(first, first + batch);
    return first;
  }

  /** Returns all keys that calls have reset. Called after the last call. */
  BitSet touched() {
    BitSet all = new BitSet(keys);
    for (BitSet own : touched) {
      all.or(own);
    }
    return all;
  }
}
