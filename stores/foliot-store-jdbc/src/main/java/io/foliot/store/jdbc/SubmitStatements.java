package io.foliot.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;

/** Statements that insert tasks, or push back waiting tasks. */
interface SubmitStatements {
  /**
   * Inserts tasks. Leaves out a task if a live task has its key or its id, or if its idempotency key has a stored
   * answer.
   *
   * @param seenMicros the largest reading of the clock by this process, in microseconds since 1970; no smaller
   *     generation is given out
   */
  Inserted insert(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException;

  /**
   * Gives a new generation to each waiting task that still has the generation of its insert. The stored answer to the
   * request that inserted the task gets the new generation as well. Returns the positions of the tasks that were
   * changed.
   *
   * @param generations the generations that the inserts gave to the tasks
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
