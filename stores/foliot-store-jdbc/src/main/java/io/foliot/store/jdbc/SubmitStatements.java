package io.foliot.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;

/** Statements that insert tasks, or push back waiting tasks. */
interface SubmitStatements {
  /**
   * Inserts the tasks whose key has no live task, and whose id and idempotency key the database does not hold yet.
   *
   * @param seenMicros the largest reading of the clock by this process, in microseconds since 1970; no smaller
   *     generation is given out
   */
  Inserted insert(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException;

  /**
   * Changes the generation of tasks that wait and still have the generation with which they were inserted, and of the
   * stored answers to the requests that inserted them. Returns the positions of the tasks that were changed.
   *
   * @param generations the generations with which the tasks were inserted
   * @param generation the new generation of all the tasks
   */
  BitSet regenerate(Connection connection, List<NewTask> tasks, long[] generations, long generation)
      throws SQLException;

  /**
   * Pushes back tasks that wait: sets new deadlines that are not earlier than the index entries of the tasks.
   *
   * @param resets whether the payloads or the maximum numbers of attempts may change
   * @param seenMicros the largest reading of the clock by this process, in microseconds since 1970; no smaller
   *     generation is given out
   */
  Touched touch(Connection connection, List<KeyTouch> touches, boolean resets, long seenMicros) throws SQLException;
}
