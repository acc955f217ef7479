package io.foliot.wheel;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * A timer that is also the caller's handle and holds the whole state, so that it costs one allocation.
 *
 * <p>The state is one word, and every transition is one compare-and-set: {@code ARMED(deadline) -> FIRED | CANCELLED},
 * and {@code ARMED(d) -> ARMED(d')}. The owner of a node may arm it again after it has fired.
 *
 * <p>The word also has the QUEUED bit. A thread sets the bit when it is about to put the node into the hand-off to the
 * driver. The bit stays set while the node is there. A thread that changes the word of a queued node need not hand the
 * node off: the driver reads the word in the same step that clears the bit.
 */
abstract class WheelNode {
  /**
   * Changes the word. A JVM that has just started interprets calls for about as long as a million timers take. An
   * interpreted call of a VarHandle takes microseconds.
   */
  private static final AtomicLongFieldUpdater<WheelNode> WORD = AtomicLongFieldUpdater
      .newUpdater(WheelNode.class, "word");

  /** Bit 0 of the word. */
  static final long QUEUED = 1;

  /** Word of a node that has fired, without the QUEUED bit: an even negative number. */
  static final long FIRED = -2;

  /** Word of a cancelled node, without the QUEUED bit: an even negative number. */
  static final long CANCELLED = -4;

  /**
   * State of the node, which any thread may change. While the node is armed, the word is twice the deadline, in
   * nanoseconds since the driver's creation. Such a word is never negative. Afterwards it is FIRED or CANCELLED. Bit 0
   * is QUEUED.
   */
  private volatile long word;

  /** Stamp of the live entry of this node in the wheel; dead entries have other stamps. Only the driver uses it. */
  int stamp;

  /** Creates an armed node whose QUEUED bit is set, because the caller is about to hand it off. */
  WheelNode(long deadlineNanos) {
    WORD.lazySet(this, armed(deadlineNanos) | QUEUED);
  }

  /** Returns the word of an armed node, without the QUEUED bit. */
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
   * Clears the QUEUED bit, which must be set, and returns the word without it. If the node is cancelled, the bit may
   * stay set, because the node will never be queued again.
   */
  final long dequeue() {
    long now = word;
    // A subtraction is one instruction of the processor. A bitwise AND would be a loop of compare-and-sets.
    return now == (CANCELLED | QUEUED) ? CANCELLED : WORD.getAndAdd(this, -QUEUED) - QUEUED;
  }

  /** Sets the node to FIRED or CANCELLED if it is armed, and returns whether it was armed. Keeps the QUEUED bit. */
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

  /** Arms a node that has fired. Returns whether the node was queued already; if not, the caller must hand it off. */
  final boolean arm(long deadlineNanos) {
    while (true) {
      long before = word;
      assert !isArmed(before) : "cannot arm a node that has not ended";
      if (replace(before, armed(deadlineNanos) | QUEUED)) {
        return isQueued(before);
      }
    }
  }

  /** Reads the data that {@link #expire} will need, to load it into the cache. Returns a value derived from it. */
  abstract int preload();

  /**
   * Called by the driver when the node has fired. An exception of this method is reported and affects no other timer.
   */
  abstract void expire();
}
