package io.foliot.wheel;

import java.util.Arrays;

/**
 * The arithmetic of the wheel. It maps a deadline to a slot, records the occupied slots, and finds the next occupied
 * slot. It does not store the timers of a slot.
 *
 * <p>The hand is the current tick. A tick is read as a number of eleven base-64 digits. The ten lower digits have 6
 * bits each, and the highest digit has the remaining 4 bits. The digits of a deadline after the hand are compared with
 * the digits of the hand. The position of the highest digit that differs is the level of the deadline. The deadline's
 * value of this digit is the slot on that level. It follows that
 * <ul>
 * <li>an occupied slot lies after the hand and never contains it, so slots neither wrap nor overflow;
 * <li>all slots of a level lie inside the one slot of the level above that contains the hand. The occupied slots of the
 * level above lie after that slot. So the next slot is the lowest occupied slot of the lowest occupied level, and two
 * bit scans find it;
 * <li>all timers with the same deadline are placed in the same slot until that slot is reached. So a slot that appends
 * its timers keeps their order.
 * </ul>
 * The sign bit is flipped before digits are compared, so that negative ticks order before positive ones.
 *
 * <p>The hierarchy is that of Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987. There the level
 * follows from the length of the delay. Here it follows from the digits, which removes wrap and overflow.
 */
final class SlotMap {
  static final int DIGIT_BITS = 6;
  static final int SLOTS_PER_LEVEL = 1 << DIGIT_BITS;
  static final int LEVELS = 11;
  static final int SLOTS = LEVELS * SLOTS_PER_LEVEL;

  /** Value that methods return in place of a slot if there is none. */
  static final int NONE = -1;

  private long hand;

  /** Last tick of the slot that the hand has reached most recently. */
  private long reachedEnd = Long.MIN_VALUE;

  /** Bit set of the occupied slots of each level; bit i is the slot with digit i. */
  private final long[] occupied = new long[LEVELS];

  /** Bit set of the levels that have an occupied slot. */
  private int occupiedLevels;

  /**
   * Lower bound of the deadlines in each occupied slot. The bound is exact as long as no timer of the slot was
   * cancelled or reset. With this bound, a driver sleeps until the deadline, and need not wake for each level.
   */
  private final long[] earliest = new long[SLOTS];

  SlotMap(long startTick) {
    hand = startTick;
  }

  long hand() {
    return hand;
  }

  /**
   * Returns whether a deadline after the hand is in the slot that was reached most recently. While timers of that slot
   * wait to be moved, a new timer with such a deadline must queue behind them. Otherwise it would overtake timers with
   * the same deadline.
   */
  boolean inReached(long deadlineTick) {
    return deadlineTick <= reachedEnd;
  }

  /** Returns the slot of a deadline, which must be after the hand, and marks the slot as occupied. */
  int occupy(long deadlineTick) {
    assert deadlineTick > hand : "a due deadline has no slot: deadline=" + deadlineTick + ", hand=" + hand;
    int level = (63 - Long.numberOfLeadingZeros(hand ^ deadlineTick)) / DIGIT_BITS;
    int digit = (int) ((deadlineTick ^ Long.MIN_VALUE) >>> (level * DIGIT_BITS)) & (SLOTS_PER_LEVEL - 1);
    int slot = level << DIGIT_BITS | digit;
    long before = occupied[level];
    long after = before | 1L << digit;
    if (before != after) {
      occupied[level] = after;
      occupiedLevels |= 1 << level;
      earliest[slot] = deadlineTick;
    } else if (deadlineTick < earliest[slot]) {
      earliest[slot] = deadlineTick;
    }
    return slot;
  }

  /** Records that a slot has no timers any more. */
  void vacate(int slot) {
    int level = slot >>> DIGIT_BITS;
    // A shift of a long uses only the low 6 bits of the slot, which are its digit.
    long remaining = occupied[level] & ~(1L << slot);
    occupied[level] = remaining;
    if (remaining == 0) {
      occupiedLevels &= ~(1 << level);
    }
  }

  /**
   * Returns the earliest deadline, or an earlier tick after the hand; {@link TimerQueue#NEVER} if no slot is occupied.
   */
  long nextWake() {
    return occupiedLevels == 0 ? TimerQueue.NEVER : earliest[next()];
  }

  /**
   * Moves the hand to the beginning of the next occupied slot, but at most to the given tick.
   *
   * @return the slot whose beginning the hand has reached, or {@link #NONE}. The caller must empty and {@link #vacate}
   *     the slot before it searches for the next slot
   */
  int reached(long nowTick) {
    if (occupiedLevels != 0) {
      int slot = next();
      long start = start(slot);
      if (start <= nowTick) {
        assert start > hand : "an occupied slot contained the hand: start=" + start + ", hand=" + hand;
        hand = start;
        reachedEnd = start + width(slot) - 1;
        return slot;
      }
    }
    hand = nowTick;
    return NONE;
  }

  /**
   * Moves the hand to a tick, unless it is there already or later. No occupied slot may begin at or before the tick.
   */
  void moveTo(long tick) {
    assert occupiedLevels == 0 || start(next()) > tick : "an occupied slot was passed: tick=" + tick + ", " + this;
    hand = Math.max(hand, tick);
  }

  /** Returns the next occupied slot; there must be one. */
  private int next() {
    return next(occupiedLevels);
  }

  /** Returns the lowest occupied slot of the lowest of the given levels, which are a bit set. */
  private int next(int levels) {
    int level = Integer.numberOfTrailingZeros(levels);
    return level << DIGIT_BITS | Long.numberOfTrailingZeros(occupied[level]);
  }

  /** Returns the next occupied slot on the given level or a higher level, or {@link #NONE}. */
  int nextFromLevel(int level) {
    int levels = occupiedLevels & -(1 << level);
    return levels == 0 ? NONE : next(levels);
  }

  /** Marks a vacant slot as occupied by several timers. None of them is due before the given tick. */
  void occupy(int slot, long earliestTick) {
    int level = slot >>> DIGIT_BITS;
    assert (occupied[level] & 1L << slot) == 0 : "the slot is occupied already: slot=" + slot;
    occupied[level] |= 1L << slot;
    occupiedLevels |= 1 << level;
    earliest[slot] = earliestTick;
  }

  static boolean isOnLevel1(int slot) {
    return slot >>> DIGIT_BITS == 1;
  }

  /** Returns the number of ticks in a slot. */
  static long width(int slot) {
    return 1L << ((slot >>> DIGIT_BITS) * DIGIT_BITS);
  }

  /** Returns a tick's digit on the level below a slot. The slot must contain the tick. */
  static int digitBelow(int slot, long tick) {
    return (int) (tick >> (((slot >>> DIGIT_BITS) - 1) * DIGIT_BITS)) & (SLOTS_PER_LEVEL - 1);
  }

  /**
   * Returns the first tick of a slot after the hand. On the top level {@code 64L << 60} overflows to 0, so the mask
   * keeps no digit of the hand.
   */
  long start(int slot) {
    int shift = (slot >>> DIGIT_BITS) * DIGIT_BITS;
    long digitsAbove = (hand ^ Long.MIN_VALUE) & ~(((long) SLOTS_PER_LEVEL << shift) - 1);
    long digit = slot & (SLOTS_PER_LEVEL - 1);
    return (digitsAbove | digit << shift) ^ Long.MIN_VALUE;
  }

  /**
   * Returns a deadline at most {@code slackTicks} after the given one. As many of its low digits are zero as the slack
   * allows. So the timer is not moved down through the levels of these digits. Slack below 63 changes nothing.
   */
  static long coarsen(long deadlineTick, long slackTicks) {
    if (slackTicks < 0) {
      throw new IllegalArgumentException("slack must not be negative: slackTicks=" + slackTicks);
    }
    if (slackTicks < SLOTS_PER_LEVEL - 1) {
      return deadlineTick;
    }
    int digits = (63 - Long.numberOfLeadingZeros(slackTicks + 1)) / DIGIT_BITS;
    long below = (1L << (digits * DIGIT_BITS)) - 1;
    long rounded = (deadlineTick + below) & ~below;
    return rounded < deadlineTick ? deadlineTick : rounded;
  }

  @Override
  public String toString() {
    return "SlotMap[hand=" + hand + ", occupied=" + Arrays.toString(occupied) + "]";
  }
}
