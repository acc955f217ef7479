package io.foliot.bench.classic;

import org.jspecify.annotations.Nullable;

/** A form that always knows its earliest timer, so that time steps from deadline to deadline. */
abstract class SortedQueue extends ClassicQueue {
  SortedQueue(long startTick) {
    super(startTick);
  }

  /** The earliest placed timer. */
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
