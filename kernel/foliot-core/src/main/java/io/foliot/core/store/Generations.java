package io.foliot.core.store;

import org.jspecify.annotations.Nullable;

/**
 * The rule of generations: a reader that has seen a generation of a key never sees the same or a smaller generation for
 * a later firing of that key.
 *
 * <ol>
 * <li>A new generation is larger than the previous generation of its task. It is also at least the floor and at least
 * the store's clock in microseconds.
 * <li>Callers may know generations that no record shows any more. The record of an ended task expires, and a successor
 * may be dropped. The floor is above all these generations.
 * <li>A store raises its floor before it answers a call, and reads the floor before it assigns a generation. A clock
 * that advances is ahead of the floor; the floor matters when the clock was set back or does not advance.
 * </ol>
 *
 * <p>A counter for each key was rejected. A store would have to keep the counter after the tasks of the key are gone,
 * so the memory for counters would only grow.
 */
public final class Generations {
  /** Value for no generation. */
  public static final long NONE = -1;

  private Generations() {}

  /**
   * Returns the generation that follows the previous generation of a task.
   *
   * @param floor the floor, which must be at least the store's clock in microseconds
   */
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
   * Returns the largest generation that a change of a record from {@code before} to {@code after} forgets: callers may
   * know this generation, but no record shows it any more. A final record shows no generation, because the record
   * expires. Returns {@link #NONE} if the change forgets no generation.
   */
  public static long forgotten(@Nullable TaskRecord before, TaskRecord after) {
    TaskRecord.Successor dropped = before == null ? null : before.successor();
    long ended = after.isLive() ? NONE : after.generation();
    return dropped == null || after.successor() != null ? ended : Math.max(ended, dropped.generation());
  }

  /**
   * Returns the largest generation ahead of the clock that a change shows or {@linkplain #forgotten forgets}, or {@link
   * #NONE} if there is none. A store whose floor follows the clock must raise the floor above this generation. A
   * forgotten generation that equals the clock is treated as ahead of it. A shown generation that equals the clock is
   * not, because the next generation of its task is larger in any case.
   */
  public static long aheadOfClock(@Nullable TaskRecord before, TaskRecord after, long nowMicros) {
    long shown = shown(after);
    long forgotten = forgotten(before, after);
    return Math.max(shown > nowMicros ? shown : NONE, forgotten >= nowMicros ? forgotten : NONE);
  }
}
