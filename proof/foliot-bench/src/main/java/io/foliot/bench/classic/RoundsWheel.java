package io.foliot.bench.classic;

import org.jspecify.annotations.Nullable;

/**
 * A single wheel for delays of any length: a timer stays in its slot for as many rounds as its delay has revolutions.
 * The timers of a slot are not sorted, so each visit of the hand examines all of them.
 *
 * <p>Schedule: O(1). Cancel: O(1). Tick: O(1 + n / slots) on average, if deadlines spread evenly over the slots; O(n)
 * at worst, if all timers share a slot. A timer whose delay is d is examined d / slots times before it is handed out.
 * Next wake: O(slots). The result may be too early by whole revolutions, because the rounds are ignored.
 *
 * <p>This is scheme 6 of Varghese and Lauck. In their paper each timer has a count of rounds, which each visit
 * decrements. Here the visit compares the deadline with the current tick, which has the same result without a write.
 *
 * <p>A timer that is examined and stays is not counted as touched, so the limit of an advance does not bound a visit.
 */
public final class RoundsWheel extends SingleWheel {
  /** The next timer to examine in the slot under the hand; null at the end of the slot. */
  private @Nullable Timer visit;

  /**
   * Creates an empty wheel whose time is the given tick.
   *
   * @throws IllegalArgumentException if {@code slots} is not positive
   */
  public RoundsWheel(long startTick, int slots) {
    super(startTick, slots);
  }

  @Override
  @Nullable
  Timer reached() {
    while (visit != null && visit.deadlineTick > currentTick()) {
      visit = visit.next;
    }
    return visit;
  }

  @Override
  void remove(Timer timer) {
    if (timer == visit) {
      visit = timer.next;
    }
    super.remove(timer);
  }

  @Override
  int step(long nowTick, int budget) {
    int moved = super.step(nowTick, budget);
    visit = slot(currentTick()).first();
    return moved;
  }
}
