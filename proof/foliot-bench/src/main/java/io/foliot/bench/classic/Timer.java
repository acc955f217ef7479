package io.foliot.bench.classic;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/** A timer, or a free cell of {@link TimerTable}. */
final class Timer {
  final int cell;

  /** The number of the cell's present use. Never 0, so that no handle is 0. */
  int generation = 1;

  boolean live;
  long deadlineTick;
  long payload;

  /** Grows with each deadline that is set: among timers of one deadline, the lower one fires first. */
  long order;

  /** The list it is in; null in the forms that have none. */
  @Nullable
  TimerList list;

  /** Neighbours in that list; of a free cell, {@code next} is the next free one. */
  @Nullable
  Timer next;

  @Nullable
  Timer prev;

  /** Its index in a heap. */
  int position;

  Timer(int cell) {
    this.cell = cell;
  }

  long handle() {
    return (long) generation << 32 | cell;
  }

  boolean isBefore(Timer other) {
    return deadlineTick < other.deadlineTick || (deadlineTick == other.deadlineTick && order < other.order);
  }

  /** Takes it out of its list. */
  void unlink() {
    requireNonNull(list, "the timer is in no list").remove(this);
  }
}
