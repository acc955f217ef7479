package io.foliot.store.jdbc;

import io.foliot.core.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The bounds of a call: the size of its statements, and the number of rounds in which it is repeated. */
final class Rounds {
  /**
   * Most rows of one statement: enough that its fixed cost does not matter, and few enough that no other call waits
   * long for their locks.
   */
  private static final int ROWS_MAX = 1_000;
  /** Payload bytes from which on a statement gets no further row: it is in memory several times over. */
  private static final long BYTES_MAX = 4 << 20;
  /** Most rounds of a call whose rows change between each read and its write; the pauses between them grow. */
  private static final int ROUNDS = 60;
  /** Number of repeated rounds without a pause. */
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

  /** Returns the positions of a list of this size, as a list that the caller may sort. */
  static List<Integer> places(int count) {
    List<Integer> places = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      places.add(i);
    }
    return places;
  }

  /**
   * Pauses before a round, for longer before later ones.
   *
   * @param round the number of rounds so far
   * @throws StoreException if there were too many rounds
   */
  static void await(int round) {
    if (round >= ROUNDS) {
      throw new StoreException(
          "the rows of a call changed between read and write each time: rounds=" + round + "; repeat the call",
          null);
    }
    if (round > ROUNDS_AT_ONCE) {
      Session.pause(round - ROUNDS_AT_ONCE);
    }
  }
}
