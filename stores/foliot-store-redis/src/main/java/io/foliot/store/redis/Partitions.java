package io.foliot.store.redis;

import java.util.BitSet;

/**
 * The number of parts over which the tasks are spread, as known to this process. During a doubling it also knows which
 * old parts may still hold tasks of new parts. Thread-safe.
 */
final class Partitions {
  private volatile State state;

  /**
   * The state at one time. Immutable, so that a step routes all of its keys by the same state.
   *
   * @param bits the binary logarithm of the number of parts
   * @param complete whether all tasks have migrated to their new parts
   * @param drained the old parts from which all tasks have migrated that must
   */
  record State(int bits, boolean complete, BitSet drained) {
    int count() {
      return 1 << bits;
    }

    /** Returns the part of a task. */
    int of(int hash16) {
      return hash16 & (count() - 1);
    }

    /** Returns the old part from which tasks may have to migrate before they can change in this part, or -1. */
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

  /** Notes that a part knows of more parts. Tasks may have to migrate until the upkeep reads that none has to. */
  synchronized void learn(int bits) {
    if (bits > state.bits()) {
      state = new State(bits, false, new BitSet());
    }
  }

  /** Notes the recorded number of parts, and the last recorded number to which all tasks have migrated. */
  synchronized void learn(int bits, int complete) {
    learn(bits);
    if (complete == state.bits() && !state.complete()) {
      state = new State(state.bits(), true, new BitSet());
    }
  }

  /** Notes that no more tasks have to migrate from this old part. */
  synchronized void drained(int bits, int part) {
    if (bits == state.bits() && !state.complete() && !state.drained().get(part)) {
      BitSet more = (BitSet) state.drained().clone();
      more.set(part);
      state = new State(bits, false, more);
    }
  }
}
