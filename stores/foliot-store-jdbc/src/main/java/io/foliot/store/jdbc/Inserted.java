package io.foliot.store.jdbc;

import java.util.BitSet;

/**
 * The results of inserts, in the order of the tasks. Not thread-safe.
 *
 * <p>The generation of a row is read from the clock before the row is inserted. The insert may then wait for another
 * transaction that has deleted a task of the same key.
 */
final class Inserted {
  /**
   * Bound on the time from the read of a generation to the end of the insert, in microseconds. Within this time, no
   * other transaction can give the key a new generation, end the task, and commit. So only an insert that takes longer
   * may have waited for such a transaction.
   */
  private static final long AT_ONCE_MICROS = 1_000;

  private final long[] generations;
  private final long[] dueAts;
  private final BitSet late = new BitSet();
  private long micros;
  private long last;

  Inserted(int count) {
    generations = new long[count];
    dueAts = new long[count];
  }

  /**
   * Records a row that was inserted.
   *
   * @param ageMicros the reading of the database's clock after the insert, minus the generation
   */
  void add(int place, long generation, long dueAt, long ageMicros) {
    generations[place] = generation;
    dueAts[place] = dueAt;
    last = ageMicros <= 0 ? Math.max(last, generation) : last;
    late.set(place, ageMicros > AT_ONCE_MICROS);
  }

  /** Records when the statement began: a reading of the database's clock, in microseconds since 1970. */
  void at(long nowMicros) {
    micros = nowMicros;
  }

  /**
   * Returns when the statement began: a reading of the database's clock, in microseconds since 1970. MariaDB and MySQL
   * round the reading down to a millisecond, and return 0 if no task was inserted.
   */
  long micros() {
    return micros;
  }

  /** Returns the generation of a task; 0 if the task was not inserted. */
  long generation(int place) {
    return generations[place];
  }

  /** Returns the due time of an inserted task, in milliseconds since 1970. */
  long dueAt(int place) {
    return dueAts[place];
  }

  /** Returns the largest of the generations that the clock had not yet passed after the insert; 0 if there is none. */
  long last() {
    return last;
  }

  /** Returns the positions of the tasks whose inserts may have waited for other transactions. */
  BitSet late() {
    return late;
  }

  /** Replaces the generation of a task. */
  void regenerated(int place, long generation) {
    generations[place] = generation;
  }
}
