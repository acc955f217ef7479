package io.foliot.bench.classic;

import io.foliot.wheel.TimerQueue;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A hierarchy of wheels, as in a clock: one slot of a wheel is as long as a revolution of the wheel below it. The radix
 * of a level is its number of slots. Radices are given in the order in which a clock is read, the highest level first:
 * {@code 24, 60, 60} is hours, minutes, seconds. Levels are numbered from the lowest one, whose slots are one tick
 * long: in this clock, seconds are level 0 and hours are level 2.
 *
 * <p>On each level, one slot contains the deadline of a timer. The timer is stored on the highest level whose hand has
 * not yet reached this slot. When the hand of the level reaches the slot, the timers of the slot move down, each by at
 * least one level. This repeats until each timer is handed out at exactly its deadline. If the slot of a timer on the
 * top level is a revolution or more ahead, the timer waits in an overflow buffer. The buffer is searched whenever the
 * top hand moves.
 *
 * <p>Costs, with m levels and o timers in the buffer:
 *
 * <ul>
 * <li>Schedule: O(m), to find the level. Cancel: O(1).
 * <li>Tick: moving the hands takes m comparisons, or O(1) on average, depending on {@link Turning}. A single tick may
 * move every timer of m - 1 slots; the limit of an advance bounds the moves of one call.
 * <li>Timer, over its life: at most m - 1 moves down, one move out of the buffer, and O(1) to be handed out.
 * <li>Move of the top hand: an examination of up to o timers of the buffer. The limit bounds how many of them move, not
 * how many are examined. If the limit stops an advance during this move, the next advance examines the buffer again.
 * <li>Next wake: O(sum of the radices). The result may be a tick at which timers only move.
 * </ul>
 *
 * <p>This is scheme 7 of Varghese and Lauck, with the buffer added.
 *
 * <p>While a timer is stored in a slot or in the buffer, time moves tick by tick, so the cost of an advance grows with
 * its number of ticks. Otherwise time moves over any distance in one step.
 */
public final class RadixHierarchy extends ClassicQueue {
  /*
   * Time moves by one tick in two parts: the hands move, then the timers of the slots that they have reached move down.
   * The current tick changes after both parts. If the limit stops the second part, the hands are one tick ahead of the
   * current tick, and new timers are still placed according to the current tick. The next advance repeats the second
   * part from the buffer downwards, so a new timer moves after older timers of the same deadline. That keeps timers of
   * one deadline in order.
   *
   * We rejected a choice of the level by the length of the delay. A timer with a short delay would then overtake an
   * older timer of the same deadline that is still one level higher.
   */

  /** The way in which the hands move. */
  public enum Turning {
    /**
     * Each level has an interval timer, which expires once for every slot of that level: m comparisons per tick.
     */
    OWN_INTERVAL,

    /**
     * The lowest hand moves at every tick, and each hand that completes a revolution pushes the hand above it. If all
     * levels have the radix r, a tick takes at most r / (r - 1) moves on average, and m moves at worst.
     */
    PUSHED_FROM_BELOW
  }

  private static final class Level {
    final long slotTicks;
    final TimerList[] slots;

    /** Index of the slot that the hand points to. */
    int hand;

    /**
     * The tick at which the interval timer expires next. Past the last tick this number wraps, so the timer never
     * expires.
     */
    long nextTurnTick;

    Level(long slotTicks, int radix) {
      this.slotTicks = slotTicks;
      this.slots = TimerList.lists(radix);
    }

    /** Returns the number of the slot with the given tick, counted over all revolutions; tick 0 is in slot 0. */
    long turns(long tick) {
      return Math.floorDiv(tick, slotTicks);
    }

    int slot(long tick) {
      return Math.floorMod(turns(tick), slots.length);
    }

    void moveHand() {
      hand = hand + 1 == slots.length ? 0 : hand + 1;
    }

    /**
     * Returns the first tick of the next occupied slot after the slot of the given tick, or {@link TimerQueue#NEVER} if
     * all slots are empty.
     */
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
   * The number of levels whose hands have already moved to the next tick; 0 unless the limit has stopped a step.
   */
  private int turned;

  /**
   * Creates an empty hierarchy whose time is the given tick.
   *
   * @param radices slots per revolution, the highest level first
   * @throws IllegalArgumentException if there is no radix, if a radix is below 2, or if the ticks of a revolution of
   *     the top level do not fit into a {@code long}
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
            "each radix must be at least 2, and their product must fit into a long: radices="
                + Arrays.toString(radices));
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

  /** Returns the list for a deadline when the hands are at the given tick. The deadline is at or after this tick. */
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
    // With a single level the difference may overflow a long; it is negative then.
    return slotsAhead < 0 || slotsAhead >= top.slots.length;
  }

  @Override
  @Nullable
  Timer reached() {
    // If the limit has stopped a step, the hand is already at the slot of the next tick, whose timers are not yet due.
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
    // If the budget is spent, there may be timers that have yet to move; the next step continues with them.
    if (moved < budget) {
      turned = 0;
      moveTo(tick);
      assert handsAreAt(tick) : "each hand is at the slot of the current tick: " + this;
    }
    return moved;
  }

  private boolean handsAreAt(long tick) {
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

  /** Returns the place of a timer, for tests: its level and slot, {@code overflow}, {@code late} or {@code gone}. */
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
