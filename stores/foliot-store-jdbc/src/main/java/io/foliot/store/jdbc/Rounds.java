package io.foliot.store.jdbc;

import io.foliot.core.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The bounds of a call: how much goes into one statement, and how often a call goes round again. */
final class Rounds {
  /**
   * Rows of one statement: enough that its cost is that of the rows, and few enough that nothing waits long for them.
   */
  private static final int ROWS_MAX = 1_000;
  /** Payload bytes of one statement: a statement is in memory several times over. */
  private static final long BYTES_MAX = 4 << 20;
  /** The number of rounds, with growing waits, in which rows may change between read and write. */
  private static final int ROUNDS = 60;
  /** Rounds without a wait. */
  private static final int ROUNDS_AT_ONCE = 2;

  private Rounds() {}

  static <T> List<List<T>> chunks(List<T> items) {
    return chunks(items, item -> 0);
  }

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

  /** Returns the places of a list, to be done in several rounds. */
  static List<Integer> places(int count) {
    List<Integer> places = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      places.add(i);
    }
    return places;
  }

  /**
   * Waits before a round, the longer the more there were.
   *
   * @throws StoreException if there were too many
   */
  static void await(int round) {
    if (round >= ROUNDS) {
      throw new StoreException(
          "the rows of a call changed between read and write each time: rounds=" + round + "; it may be repeated",
          null);
    }
    if (round > ROUNDS_AT_ONCE) {
      Session.pause(round - ROUNDS_AT_ONCE);
    }
  }
}
