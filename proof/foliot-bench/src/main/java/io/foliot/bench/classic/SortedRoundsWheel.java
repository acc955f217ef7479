package io.foliot.bench.classic;

import org.jspecify.annotations.Nullable;

/**
 * A single wheel for delays of any length. Each slot is sorted by deadline, so a visit of the hand examines only the
 * timers that are due and the one after them.
 *
 * <p>Schedule: O(1 + n / slots) on average, if deadlines spread evenly over the slots; O(n) at worst, if all timers
 * share a slot and come in the reverse order of their deadlines. A slot is searched from its rear, so a schedule takes
 * O(1) if all delays are equal. Cancel: O(1). Tick: O(1), and O(1) per timer handed out. Next wake: O(slots). The
 * result is the earliest deadline.
 *
 * <p>This is scheme 5 of Varghese and Lauck.
 */
public final class SortedRoundsWheel extends SingleWheel {
  /**
   * Creates an empty wheel whose time is the given tick.
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
