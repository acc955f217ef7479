package io.foliot.bench.classic;

import org.jspecify.annotations.Nullable;

/**
 * A single wheel for delays shorter than one revolution. A deadline that lies a revolution or more ahead is refused
 * with an {@link IllegalArgumentException}, and nothing changes.
 *
 * <p>Schedule: O(1). Cancel: O(1). Tick: O(1), and O(1) per timer handed out. Memory: O(slots), even without timers.
 * Next wake: O(slots), a read of each slot up to the next one that is occupied.
 *
 * <p>This is scheme 4 of Varghese and Lauck.
 */
public final class BoundedWheel extends SingleWheel {
  /**
   * Creates an empty wheel whose time is the given tick.
   *
   * @param slots the number of slots. Each deadline must lie less than this number of ticks ahead
   * @throws IllegalArgumentException if {@code slots} is not positive
   */
  public BoundedWheel(long startTick, int slots) {
    super(startTick, slots);
  }

  /** Returns the longest delay that the wheel accepts, in ticks. */
  public long maxDelayTicks() {
    return slots() - 1L;
  }

  @Override
  void ensureTakes(long deadlineTick) {
    long delayTicks = deadlineTick - currentTick();
    // If the difference overflows a long, it is negative although the deadline is ahead.
    if (deadlineTick > currentTick() && (delayTicks < 0 || delayTicks > maxDelayTicks())) {
      throw new IllegalArgumentException(
          "a deadline must lie less than one revolution of the wheel ahead: deadlineTick="
              + deadlineTick + ", currentTick=" + currentTick() + ", slots=" + slots());
    }
  }

  @Override
  @Nullable
  Timer reached() {
    return slot(currentTick()).first();
  }
}
