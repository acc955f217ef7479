package io.foliot.store.jdbc;

import io.foliot.core.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The bounds of a call: the size of its statements, and the number of its rounds. */
final class Rounds {
  /**
   * Largest number of rows in one statement. With this many rows, the fixed cost of a statement does not matter, and
   * other calls do not wait long for the locks.
   */
  private static final int ROWS_MAX = 1_000;
  /**
   * Bound on the payload bytes of a statement. A statement that has reached this bound gets no more rows, because each
   * payload is in memory several times.
   */
  private static final long BYTES_MAX = 4 << 20;
  /** Largest number of rounds. A round is repeated if rows change between its read and its write. */
  private static final int ROUNDS = 60;
  /** Number of repetitions of a round without a pause before them. */
  private static final int ROUNDS_AT_ONCE = 2;

  private Rounds() {}

  /** Splits items, in their order, into lists, one for each statement. */
  static <T> List<List<T>> chunks(List<T> items) {
    return chunks(items, item -> 0);
  }

  /**
   * Splits items, in their order, into one list for each statement. Bounds the items and the payload bytes of a list.
   */
  static <T> List<List<T>> chunks(List<T> items, ToLongFunction<T> bytesOf) {
    List<List<T>> chunks = new ArrayList<>();
    for (int from = 0; from < items.size();) {
      int to = from;
      for (long bytes = 0; to < items.size() && to - from < ROWS_MAX && (to == from || bytes < BYTES_MAX); to++) {
        bytes += bytesOf.applyAsLong(items.get(to));
      }
      chunks.add(items.subList(from, to));
      from = to;
    }
    return chunks;
  }

  /** Returns the positions of a list of this size in ascending order, as a list that the caller may sort. */
  static List<Integer> places(int count) {
    List<Integer> places = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      places.add(i);
    }
    return places;
  }

  /**
   * Pauses before a round for a random time. The bound of this time grows with the number of rounds. There is no pause
   * before the first round, nor before its first {@value #ROUNDS_AT_ONCE} repetitions.
   *
   * @param round the number of rounds so far
   * @throws StoreException if there were {@value #ROUNDS} rounds or more
   */
  static void await(int round) {
    if (round >= ROUNDS) {
      throw new StoreException(
          "the rows of a call changed between each read and its write; repeat the call: rounds=" + round,
          null);
    }
    if (round > ROUNDS_AT_ONCE) {
      Session.pause(round - ROUNDS_AT_ONCE);
    }
  }
}
