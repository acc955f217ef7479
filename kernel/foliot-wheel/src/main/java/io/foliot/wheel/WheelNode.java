package io.foliot.wheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A timer as an object that is its own handle and its own state, so that it costs one allocation.
 *
 * <p>The word is the whole state, and every transition of it is one compare-and-set:
 * {@code ARMED(deadline) -> FIRED | CANCELLED}, and {@code ARMED(d) -> ARMED(d')}; an owner may arm a fired one again.
 * The word also has the QUEUED bit: the node is in the hand-off to the driver, or the thread that set the bit is about
 * to put it there. A thread that changes the word of a queued node does nothing more, because the driver reads the word
 * after it has cleared the bit.
 */
abstract class WheelNode {
  private static final VarHandle WORD;

  static {
    try {
      WORD = MethodHandles.lookup().findVarHandle(WheelNode.class, "word", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  static final long QUEUED = 1;
  static final long FIRED = -2;
  static final long CANCELLED = -4;

  /**
   * Any thread. While the node is armed, twice its deadline in nanoseconds of the driver's time, never negative; after
   * that FIRED or CANCELLED. Bit 0 is QUEUED.
   */
  private volatile long word;

  /** Driver thread only. Distinguishes the current entry of this node in the wheel from its outdated entries. */
  int stamp;

  /** Creates a node that is about to be handed off. */
  WheelNode(long deadlineNanos) {
    WORD.set(this, armed(deadlineNanos) | QUEUED);
  }

  static long armed(long deadlineNanos) {
    return deadlineNanos << 1;
  }

  static boolean isArmed(long word) {
    return word >= 0;
  }

  static boolean isQueued(long word) {
    return (word & QUEUED) != 0;
  }

  /** Returns the deadline of an armed word. */
  static long deadlineNanos(long word) {
    return word >> 1;
  }

  final long word() {
    return word;
  }

  final boolean replace(long expected, long word) {
    return WORD.compareAndSet(this, expected, word);
  }

  /**
   * Clears QUEUED and returns the word without it. If the node is cancelled, the bit stays set, because the node will
   * never be queued again.
   */
  final long dequeue() {
    long now = word;
    return now == (CANCELLED | QUEUED) ? CANCELLED : (long) WORD.getAndBitwiseAnd(this, ~QUEUED) & ~QUEUED;
  }

  /** Sets the node to FIRED or CANCELLED if it is armed, and returns whether it was. The QUEUED bit stays as it is. */
  final boolean end(long terminal) {
    while (true) {
      long before = word;
      if (!isArmed(before)) {
        return false;
      }
      if (replace(before, terminal | (before & QUEUED))) {
        return true;
      }
    }
  }

  /** Arms a node that has fired. Returns whether it was queued already; if not, the caller must hand it off. */
  final boolean arm(long deadlineNanos) {
    while (true) {
      long before = word;
      assert !isArmed(before) : "only a node that has ended is armed again";
      if (replace(before, armed(deadlineNanos) | QUEUED)) {
        return isQueued(before);
      }
    }
  }

  /** Reads from memory the data that {@link #expire} will need, and returns a value that depends on it. */
  abstract int preload();

  /**
   * Called by the driver when the node has fired. An exception that it throws is reported and affects no other timer.
   */
  abstract void expire();
}
