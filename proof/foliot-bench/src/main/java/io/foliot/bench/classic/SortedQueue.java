package io.foliot.bench.classic;

import org.jspecify.annotations.Nullable;

/** A queue that can return its earliest timer, so that time moves from deadline to deadline, not tick by tick. */
abstract class SortedQueue extends ClassicQueue {
  SortedQueue(long startTick) {
    super(startTick);
  }

  /** Returns the earliest placed timer, or null if there is none. */
  abstract @Nullable Timer first();

  @Override
  final @Nullable Timer reached() {
    Timer first = first();
    return first != null && first.deadlineTick <= currentTick() ? first : null;
  }

  @Override
  final int step(long nowTick, int budget) {
    Timer first = first();
    moveTo(first == null ? nowTick : Math.min(first.deadlineTick, nowTick));
    return 0;
  }

  @Override
  final long nextPlaced() {
    Timer first = first();
    return first == null ? NEVER : first.deadlineTick;
  }
}
