package io.foliot.bench.classic;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/** A timer, or a free cell of {@link TimerTable}. */
final class Timer {
  final int cell;

  /** The number of the current use of the cell, from 1; 0 if the cell is retired. So no live timer has the handle 0. */
  int generation = 1;

  boolean live;
  long deadlineTick;
  long payload;

  /** A number that grows with each deadline that is set. Timers of one deadline fire in the order of this number. */
  long order;

  /** The list that contains the timer, or null. */
  @Nullable
  TimerList list;

  /** The following timer in the list. In a free cell, the next free cell. */
  @Nullable
  Timer next;

  @Nullable
  Timer prev;

  /** The timer's index in the array of {@link HeapQueue}. */
  int position;

  Timer(int cell) {
    this.cell = cell;
  }

  /** Returns the handle of the current use of the cell: the generation in the upper 32 bits, the cell in the lower. */
  long handle() {
    return (long) generation << 32 | cell;
  }

  boolean isBefore(Timer other) {
    return deadlineTick < other.deadlineTick || (deadlineTick == other.deadlineTick && order < other.order);
  }

  void unlink() {
    requireNonNull(list, "the timer is in no list").remove(this);
  }
}
