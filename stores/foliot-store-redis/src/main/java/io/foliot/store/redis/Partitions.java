package io.foliot.store.redis;

import java.util.BitSet;

/**
 * The number of parts, as this process last read it. A part is a share of the tasks; all keys of a part in Redis have
 * the same hash tag. A slot of a store is one part, or several parts if slots were doubled while the store was open.
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
   * @param drained the old parts that have no more tasks to migrate; never changed after construction
   */
  record State(int bits, boolean complete, BitSet drained) {
    int count() {
      return 1 << bits;
    }

    /** Returns the part of a task or key with this hash. */
    int of(int hash16) {
      return hash16 & (count() - 1);
    }

    /**
     * Returns the old part that may still have tasks of this part, or -1. Such tasks must migrate before they can
     * change.
     */
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
   * @param complete the binary logarithm of the number of parts after the latest completed doubling
   */
  synchronized void update(int bits, int complete) {
    update(bits);
    if (complete == state.bits() && !state.complete()) {
      state = new State(state.bits(), true, new BitSet());
    }
  }

  /**
   * Records that this old part has no more tasks to migrate. Does nothing if the number of parts has changed.
   *
   * @param bits the binary logarithm of the number of parts after the doubling
   */
  synchronized void drained(int bits, int part) {
    if (bits == state.bits() && !state.complete() && !state.drained().get(part)) {
      BitSet more = (BitSet) state.drained().clone();
      more.set(part);
      state = new State(bits, false, more);
    }
  }
}
