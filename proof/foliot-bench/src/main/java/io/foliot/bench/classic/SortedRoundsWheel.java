package io.foliot.bench.classic;

import org.jspecify.annotations.Nullable;

/**
 * A single wheel for delays of any length, whose slots are sorted by deadline, so that each visit of the hand looks
 * only at the timers that are due and at the one behind them.
 *
 * <p>Start: O(1 + n / slots) on average, if deadlines spread evenly over the slots; O(n) at worst, if all timers share
 * a slot and come in falling order; O(1) if all delays are equal, because a slot is searched from its rear. Stop: O(1).
 * Tick: O(1), and O(1) per timer handed out. Next wake: O(slots), exact.
 *
 * <p>This is scheme 5 of Varghese and Lauck.
 */
public final class SortedRoundsWheel extends SingleWheel {
  /**
   * An empty wheel whose time is the given tick.
   *
   * @throws IllegalArgumentException if {@code slots} is not positive
   */
  public SortedRoundsWheel(long startTick, int slots) {
    super(startTick, slots);
  }

  @Override
  void place(Timer timer) {
    slot(timer.deadlineTick).insertSorted(timer);
  }

  @Override
  @Nullable
  Timer reached() {
    Timer first = slot(currentTick()).first();
    return first != null && first.deadlineTick <= currentTick() ? first : null;
  }

  @Override
  long nextPlaced() {
    long earliest = NEVER;
    for (int ahead = 1; ahead <= slots(); ahead++) {
      Timer first = slot(currentTick() + ahead).first();
      if (first != null) {
        earliest = Math.min(earliest, first.deadlineTick);
      }
    }
    return earliest;
  }
}
