package io.foliot.store.redis;

import java.util.BitSet;

/**
 * The number of parts, as this process last read it. A part is the share of the tasks whose keys in Redis have the same
 * hash tag. A slot of a store is one part, or several parts if slots were doubled while the store was open.
 *
 * <p>A doubling splits each part {@code p} of {@code n} old parts: some of its tasks migrate to the new part
 * {@code p + n}. Until they have migrated, this object also records which old parts may still have such tasks.
 * Thread-safe.
 */
final class Partitions {
  private volatile State state;

  /**
   * The state at one time.
   *
   * @param bits the binary logarithm of the number of parts
   * @param complete whether all tasks have migrated to their new parts
   * @param drained the old parts from which no more tasks have to migrate; never changed after construction
   */
  record State(int bits, boolean complete, BitSet drained) {
    int count() {
      return 1 << bits;
    }

    /** Returns the part of a task or key with this hash. */
    int of(int hash16) {
      return hash16 & (count() - 1);
    }

    /** Returns the old part from which tasks may have to migrate to this part before they can change, or -1. */
    int oldOf(int part) {
      int half = count() >> 1;
      return complete || part < half || drained.get(part - half) ? -1 : part - half;
    }
  }

  Partitions(int bits, boolean complete) {
    state = new State(bits, complete, new BitSet());
  }

  State state() {
    return state;
  }

  /** Records that there are at least 2^{@code bits} parts. If this is more than before, tasks may have to migrate. */
  synchronized void update(int bits) {
    if (bits > state.bits()) {
      state = new State(bits, false, new BitSet());
    }
  }

  /**
   * Records how many parts there are according to the store, and how far their tasks have migrated.
   *
   * @param bits the binary logarithm of the number of parts
   * @param complete the binary logarithm of the largest number of parts to which all tasks have migrated
   */
  synchronized void update(int bits, int complete) {
    update(bits);
    if (complete == state.bits() && !state.complete()) {
      state = new State(state.bits(), true, new BitSet());
    }
  }

  /**
   * Records that no more tasks have to migrate from this old part. Does nothing if the number of parts has changed.
   *
   * @param bits the binary logarithm of the number of parts to which the tasks have migrated
   */
  synchronized void drained(int bits, int part) {
    if (bits == state.bits() && !state.complete() && !state.drained().get(part)) {
      BitSet more = (BitSet) state.drained().clone();
      more.set(part);
      state = new State(bits, false, more);
    }
  }
}
