package io.foliot.store.redis;

import java.util.BitSet;

/**
 * The number of parts over which the tasks are spread, as known to this process, and the old ones that may still hold
 * tasks of a new one. Any thread.
 */
final class Partitions {
  private volatile State state;

  /**
   * The state at one time. Immutable, so that a step routes all of its keys by the same state.
   *
   * @param bits the binary logarithm of the number of parts
   * @param complete whether all tasks have crossed to their new parts
   * @param drained the old parts from which all tasks have crossed
   */
  record State(int bits, boolean complete, BitSet drained) {
    int count() {
      return 1 << bits;
    }

    /** Returns the part of a task. */
    int of(int hash16) {
      return hash16 & (count() - 1);
    }

    /** Returns the part from which a task may have to cross before it is touched in this one, or -1. */
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

  /** Notes that a part knows of more parts: until the upkeep reads otherwise, tasks may still have to cross. */
  synchronized void learn(int bits) {
    if (bits > state.bits()) {
      state = new State(bits, false, new BitSet());
    }
  }

  /** Learns the recorded number of parts. */
  synchronized void learn(int bits, int complete) {
    learn(bits);
    if (complete == state.bits() && !state.complete()) {
      state = new State(state.bits(), true, new BitSet());
    }
  }

  /** Notes that nothing is to cross from that part any more. */
  synchronized void drained(int bits, int part) {
    if (bits == state.bits() && !state.complete() && !state.drained().get(part)) {
      BitSet more = (BitSet) state.drained().clone();
      more.set(part);
      state = new State(bits, false, more);
    }
  }
}
