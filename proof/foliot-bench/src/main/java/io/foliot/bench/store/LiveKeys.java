package io.foliot.bench.store;

import java.util.BitSet;

/**
 * Keys that callers reset, each caller its own ones in turn, so that no two meet at one. Threads: each caller its own
 * part.
 */
final class LiveKeys {
  private final int keys;
  private final int callers;
  private final int batch;
  private final BitSet[] touched;

  /**
   * Keys from 0.
   *
   * @param batch how many a call is about; there are no fewer than these for each caller
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

  /** The first of the keys that a call is about; the others follow it. */
  int first(int caller, int turn) {
    int turns = keys / (callers * batch);
    int first = (turn % turns * callers + caller) * batch;
    touched[caller].set(first, first + batch);
    return first;
  }

  /** All that calls have been about. To be asked when they are over. */
  BitSet touched() {
    BitSet all = new BitSet(keys);
    for (BitSet own : touched) {
      all.or(own);
    }
    return all;
  }
}
