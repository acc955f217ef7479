package io.foliot.bench.classic;

import io.foliot.wheel.TimerQueue;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A hierarchy of wheels, one slot of each as long as a revolution of the wheel below, as the hands of a clock. Radices
 * are given as a clock is read, the highest level first: {@code 24, 60, 60} is hours, minutes, seconds. Levels are
 * numbered from the lowest one, whose slots are one tick long: there the seconds are level 0 and the hours level 2.
 *
 * <p>A timer is on the highest level on which its deadline and the hand are in different slots, in the slot of its
 * deadline. When the hand of that level comes there, its timers move down, each at least one level, and so on until
 * they are handed out at exactly their deadline. A timer whose slot on the top level is a revolution or more ahead
 * waits in an overflow buffer, which is searched whenever the top hand moves.
 *
 * <p>With m levels and o timers in the buffer:
 *
 * <p>Start: O(m), to find the level. Stop: O(1). Tick: moving the hands takes m comparisons, or O(1) on average, as
 * {@link Turning} says. To that come, over its life, at most m - 1 moves down per timer, one move out of the buffer,
 * and O(1) to be handed out. A single tick may move every timer of m - 1 slots; the limit of an advance bounds how many
 * at a time. Each move of the top hand examines all o timers of the buffer, which the limit does not bound, and does so
 * again when an advance that was stopped by its limit within that move is continued. Next wake: O(sum of the radices),
 * and it may be a tick at which timers only move.
 *
 * <p>This is scheme 7 of Varghese and Lauck, with the buffer added.
 *
 * <p>Time moves tick by tick while a timer is placed, so an advance costs the ticks it covers; an empty hierarchy takes
 * any distance at once.
 */
public final class RadixHierarchy extends ClassicQueue {
  /*
   * Moving time by a tick is done in two parts: the hands move, then the slots they have come to are emptied downwards.
   * Only then does the current tick change. If a limit stops the second part, the hands are a tick ahead of the
   * current one, and new timers still go where the current tick puts them; the second part then starts over from the
   * buffer, so they follow those of the same deadline that went before. That keeps timers of one deadline in order.
   *
   * Rejected: choosing the level by the length of the delay. A timer with a short delay would then overtake one of the
   * same deadline that was set long before and is still a level higher.
   */

  /** The way in which the hands move. */
  public enum Turning {
    /**
     * Each level has an interval timer of its own, which goes off at every slot of that level: m comparisons per tick.
     */
    OWN_INTERVAL,

    /**
     * The lowest hand moves at every tick, and each hand that completes a revolution pushes the one above it: with
     * radix r on all levels, at most r / (r - 1) moves per tick on average, and m moves in the worst tick.
     */
    PUSHED_FROM_BELOW
  }

  private static final class Level {
    final long slotTicks;
    final TimerList[] slots;

    /** The slot that the hand is at. */
    int hand;

    /** When the interval timer of this level goes off. Past the last tick it wraps, to a tick that is over. */
    long nextTurnTick;

    Level(long slotTicks, int radix) {
      this.slotTicks = slotTicks;
      this.slots = TimerList.lists(radix);
    }

    /** The number of slots of this level, over all revolutions, from tick 0 to the one with the given tick. */
    long turns(long tick) {
      return Math.floorDiv(tick, slotTicks);
    }

    int slot(long tick) {
      return Math.floorMod(turns(tick), slots.length);
    }

    void moveHand() {
      hand = hand + 1 == slots.length ? 0 : hand + 1;
    }

    /** The first tick of the next occupied slot; {@link TimerQueue#NEVER} if there is none. */
    long nextOccupied(long tick) {
      for (int ahead = 1; ahead <= slots.length; ahead++) {
        long turn = turns(tick) + ahead;
        if (!slots[Math.floorMod(turn, slots.length)].isEmpty()) {
          return turn * slotTicks;
        }
      }
      return NEVER;
    }
  }

  private final Level[] levels;
  private final Level top;
  private final TimerList overflow = new TimerList();
  private final Turning turning;

  /**
   * The number of levels that have moved their hands to the tick after the current one; 0 unless a turn was stopped by
   * a limit.
   */
  private int turned;

  /**
   * An empty hierarchy whose time is the given tick.
   *
   * @param radices slots per revolution, the highest level first
   * @throws IllegalArgumentException if there is no radix, one is below 2, or a revolution of the top level does not
   *     fit into a {@code long}
   */
  public RadixHierarchy(long startTick, Turning turning, int... radices) {
    super(startTick);
    ensureRadices(radices);
    this.turning = turning;
    this.levels = levels(radices);
    this.top = levels[levels.length - 1];
    setHands(startTick);
  }

  private static void ensureRadices(int[] radices) {
    long ticks = 1;
    for (int radix : radices) {
      if (radix < 2 || ticks > Long.MAX_VALUE / radix) {
        throw new IllegalArgumentException(
            "each radix must be at least 2, and their product a long: radices=" + Arrays.toString(radices));
      }
      ticks *= radix;
    }
    if (radices.length == 0) {
      throw new IllegalArgumentException("a hierarchy must have at least one level: radices=[]");
    }
  }

  private static Level[] levels(int[] radices) {
    Level[] levels = new Level[radices.length];
    long slotTicks = 1;
    for (int level = 0; level < levels.length; level++) {
      int radix = radices[levels.length - 1 - level];
      levels[level] = new Level(slotTicks, radix);
      slotTicks *= radix;
    }
    return levels;
  }

  private void setHands(long tick) {
    for (Level level : levels) {
      level.hand = level.slot(tick);
      level.nextTurnTick = (level.turns(tick) + 1) * level.slotTicks;
    }
    turned = 0;
  }

  @Override
  void place(Timer timer) {
    listFor(timer.deadlineTick, currentTick()).append(timer);
  }

  @Override
  void remove(Timer timer) {
    timer.unlink();
  }

  /** Returns the slot of a deadline when the hands are at the given tick, which is not after it. */
  private TimerList listFor(long deadlineTick, long tick) {
    if (isBeyond(deadlineTick, tick)) {
      return overflow;
    }
    int level = levels.length - 1;
    while (level > 0 && levels[level].turns(deadlineTick) == levels[level].turns(tick)) {
      level--;
    }
    return levels[level].slots[levels[level].slot(deadlineTick)];
  }

  private boolean isBeyond(long deadlineTick, long tick) {
    long slotsAhead = top.turns(deadlineTick) - top.turns(tick);
    // On a single level the difference may leave the range of a long, and then comes out negative.
    return slotsAhead < 0 || slotsAhead >= top.slots.length;
  }

  @Override
  @Nullable
  Timer reached() {
    // Within a turn that was stopped, the slot is that of the next tick.
    Timer first = levels[0].slots[levels[0].hand].first();
    return first != null && first.deadlineTick <= currentTick() ? first : null;
  }

  @Override
  int step(long nowTick, int budget) {
    if (placed() == 0) {
      moveTo(nowTick);
      setHands(nowTick);
      return 0;
    }
    long tick = currentTick() + 1;
    if (turned == 0) {
      turned = switch (turning) {
        case OWN_INTERVAL -> moveHandsThatAreDueAt(tick);
        case PUSHED_FROM_BELOW -> pushHands();
      };
    }
    int moved = turned == levels.length ? drainOverflow(tick, budget) : 0;
    for (int level = turned - 1; level > 0; level--) {
      moved += drain(levels[level], tick, budget - moved);
    }
    // A budget that is spent may have left timers where they were.
    if (moved < budget) {
      turned = 0;
      moveTo(tick);
      assert handsStandAt(tick) : "each hand is at the slot of the current tick: " + this;
    }
    return moved;
  }

  private boolean handsStandAt(long tick) {
    for (Level level : levels) {
      if (level.hand != level.slot(tick)) {
        return false;
      }
    }
    return true;
  }

  private int moveHandsThatAreDueAt(long tick) {
    int moved = 0;
    for (Level level : levels) {
      if (level.nextTurnTick == tick) {
        level.nextTurnTick += level.slotTicks;
        level.moveHand();
        moved++;
      }
    }
    return moved;
  }

  private int pushHands() {
    int moved = 0;
    do {
      levels[moved].moveHand();
      moved++;
    } while (moved < levels.length && levels[moved - 1].hand == 0);
    return moved;
  }

  private int drainOverflow(long tick, int budget) {
    int moved = 0;
    Timer timer = overflow.first();
    while (timer != null && moved < budget) {
      Timer next = timer.next;
      if (!isBeyond(timer.deadlineTick, tick)) {
        moveDown(timer, tick);
        moved++;
      }
      timer = next;
    }
    return moved;
  }

  private int drain(Level level, long tick, int budget) {
    TimerList slot = level.slots[level.hand];
    int moved = 0;
    Timer timer = slot.first();
    while (timer != null && moved < budget) {
      moveDown(timer, tick);
      moved++;
      timer = slot.first();
    }
    return moved;
  }

  private void moveDown(Timer timer, long tick) {
    TimerList to = listFor(timer.deadlineTick, tick);
    assert to != timer.list : "a timer moves down when the hand comes to its slot: deadlineTick=" + timer.deadlineTick
        + ", tick=" + tick;
    timer.unlink();
    to.append(timer);
  }

  @Override
  long nextPlaced() {
    long earliest = overflow.isEmpty() ? NEVER : (top.turns(currentTick()) + 1) * top.slotTicks;
    for (Level level : levels) {
      earliest = Math.min(earliest, level.nextOccupied(currentTick()));
    }
    return earliest;
  }

  /** Returns the place of a timer, for tests: its level and slot, or the list beside the levels. */
  String where(long handle) {
    Timer timer = find(handle);
    if (timer == null) {
      return "gone";
    }
    if (isLate(timer)) {
      return "late";
    }
    for (int level = 0; level < levels.length; level++) {
      int slot = Arrays.asList(levels[level].slots).indexOf(timer.list);
      if (slot >= 0) {
        return "level " + level + " slot " + slot;
      }
    }
    assert timer.list == overflow : "a placed timer is on a level or in the buffer: cell=" + timer.cell;
    return "overflow";
  }
}
