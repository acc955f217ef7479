package io.foliot.wheel;

import java.util.Arrays;

/**
 * The arithmetic of the wheel: the slot of a deadline, the occupied slots, and the next occupied one. It does not store
 * the timers of a slot.
 *
 * <p>A tick is read as a number of eleven digits to the base 64, the highest one holding the four bits that remain of
 * 64. A deadline after the hand is on the level of the highest digit in which it differs from the hand, in the slot
 * that this digit names. It follows that
 * <ul>
 * <li>an occupied slot never contains the hand, and lies ahead of it on its level: there is no wrap and no overflow;
 * <li>all slots of a level lie inside that slot of the level above which contains the hand, and the occupied slots of
 * the level above lie after it: the lowest occupied slot of the lowest occupied level is the next one, which two bit
 * scans find;
 * <li>all timers that are placed with one deadline are placed in the same slot until that slot is reached, so lists
 * that append keep them in order.
 * </ul>
 * The sign bit is flipped before digits are compared, so that negative ticks order before positive ones.
 *
 * <p>The hierarchy is that of Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987; there the level
 * follows from the length of the delay, here from the digits, which removes wrap and overflow.
 */
final class SlotMap {
  static final int DIGIT_BITS = 6;
  static final int SLOTS_PER_LEVEL = 1 << DIGIT_BITS;
  static final int LEVELS = 11;
  static final int SLOTS = LEVELS * SLOTS_PER_LEVEL;

  /** Result of {@link #reached} when no occupied slot begins at or before the given tick. */
  static final int NONE = -1;

  private long hand;

  /** The last tick of the slot that was reached last. */
  private long reachedEnd = Long.MIN_VALUE;

  /** Per level, which of its slots hold a timer. */
  private final long[] occupied = new long[LEVELS];

  /** The levels that have an occupied slot. */
  private int occupiedLevels;

  /**
   * Per occupied slot, a lower bound of the deadlines in it, exact as long as none of them was cancelled or pushed
   * back. It lets an owner sleep up to the deadline instead of waking at each level on the way down.
   */
  private final long[] earliest = new long[SLOTS];

  SlotMap(long startTick) {
    hand = startTick;
  }

  long hand() {
    return hand;
  }

  /**
   * Returns whether a deadline after the hand is in the slot that was reached last. As long as timers of that slot wait
   * to be moved, one placed there must queue behind them, or it would overtake those with the same deadline.
   */
  boolean inReached(long deadlineTick) {
    return deadlineTick <= reachedEnd;
  }

  /** Returns the slot for a deadline, which must be after the hand; the slot becomes occupied. */
  int occupy(long deadlineTick) {
    assert deadlineTick > hand : "a deadline that is due has no slot: deadline=" + deadlineTick + ", hand=" + hand;
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

  /** Records that the last timer of a slot has left it. */
  void vacate(int slot) {
    int level = slot >>> DIGIT_BITS;
    long remaining = occupied[level] & ~(1L << slot);
    occupied[level] = remaining;
    if (remaining == 0) {
      occupiedLevels &= ~(1 << level);
    }
  }

  /**
   * Returns the earliest deadline, or a tick between the hand and that deadline; {@link TimerQueue#NEVER} if no slot is
   * occupied.
   */
  long nextWake() {
    return occupiedLevels == 0 ? TimerQueue.NEVER : earliest[next()];
  }

  /**
   * Returns the next occupied slot if it begins at or before the given tick, or {@link #NONE}. The hand has moved to
   * the slot's beginning, or to the given tick, when this returns. The caller must empty and {@link #vacate} the slot
   * before anything else.
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

  private int next() {
    return next(occupiedLevels);
  }

  private int next(int levels) {
    int level = Integer.numberOfTrailingZeros(levels);
    return level << DIGIT_BITS | Long.numberOfTrailingZeros(occupied[level]);
  }

  /** Returns the next occupied slot on the given level or a higher one, or {@link #NONE}. */
  int nextFromLevel(int level) {
    int levels = occupiedLevels & -(1 << level);
    return levels == 0 ? NONE : next(levels);
  }

  /** Marks a slot as occupied by timers that are put there together, none of them due before the given tick. */
  void occupy(int slot, long earliestTick) {
    int level = slot >>> DIGIT_BITS;
    assert (occupied[level] & 1L << slot) == 0 : "the slot is occupied: slot=" + slot;
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

  /** Returns the digit of a tick in a slot, on the level below the slot's. */
  static int digitBelow(int slot, long tick) {
    return (int) (tick >> (((slot >>> DIGIT_BITS) - 1) * DIGIT_BITS)) & (SLOTS_PER_LEVEL - 1);
  }

  /**
   * Returns the first tick of a slot ahead of the hand. On the top level the shift of 64 by 60 is 0, so no digit is
   * kept.
   */
  long start(int slot) {
    int shift = (slot >>> DIGIT_BITS) * DIGIT_BITS;
    long digitsAbove = (hand ^ Long.MIN_VALUE) & ~(((long) SLOTS_PER_LEVEL << shift) - 1);
    long digit = slot & (SLOTS_PER_LEVEL - 1);
    return (digitsAbove | digit << shift) ^ Long.MIN_VALUE;
  }

  /**
   * Returns a deadline at most {@code slackTicks} after the given one, with as many low digits zero as the slack
   * allows, so that its timer is not moved down through the levels of these digits. Slack below 63 changes nothing.
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
