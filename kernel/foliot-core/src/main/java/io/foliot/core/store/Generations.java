package io.foliot.core.store;

import org.jspecify.annotations.Nullable;

/**
 * The rule of generations: a reader that has seen a generation of a key never sees the same or a smaller one for a
 * later firing of it.
 *
 * <ol>
 * <li>A new generation is larger than the last one of its task, and at least the floor and the store's clock in
 * microseconds.
 * <li>The floor is above each generation that callers may know and no record shows any more: that of a task that has
 * ended, whose record expires, and that of a successor that was dropped.
 * <li>A store raises its floor before it answers, and reads it before it gives out a generation. As long as the clock
 * moves on, it is ahead of the floor; the floor matters when the clock was set back or does not move.
 * </ol>
 *
 * <p>Rejected: a counter for each key that outlives its tasks (memory that only grows).
 */
public final class Generations {
  /** The value that means no generation. */
  public static final long NONE = -1;

  private Generations() {}

  /** Returns the generation after the last one of a task. */
  public static long next(long last, long floor) {
    return Math.max(above(last), floor);
  }

  /** Returns the lowest floor above a generation. */
  public static long above(long generation) {
    return Math.addExact(generation, 1);
  }

  /** Returns the largest generation that a record shows. */
  public static long shown(TaskRecord record) {
    TaskRecord.Successor successor = record.successor();
    return successor == null ? record.generation() : Math.max(record.generation(), successor.generation());
  }

  /**
   * Returns the largest generation that callers may know and no record shows once a change is made and its record has
   * expired; {@link #NONE} if there is none.
   */
  public static long forgotten(@Nullable TaskRecord before, TaskRecord after) {
    TaskRecord.Successor dropped = before == null ? null : before.successor();
    long ended = after.isLive() ? NONE : after.generation();
    return dropped == null || after.successor() != null ? ended : Math.max(ended, dropped.generation());
  }

  /**
   * Returns the largest generation of a change that the clock has not passed, above which a floor that otherwise
   * follows the clock must be raised; {@link #NONE} if there is none. One that is shown counts only if it is ahead of
   * the clock, for the next one of its task is larger anyway.
   */
  public static long aheadOfClock(@Nullable TaskRecord before, TaskRecord after, long nowMicros) {
    long shown = shown(after);
    long forgotten = forgotten(before, after);
    return Math.max(shown > nowMicros ? shown : NONE, forgotten >= nowMicros ? forgotten : NONE);
  }
}
