package io.foliot.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;

/** Statements that insert tasks, or push back those that wait. */
interface SubmitStatements {
  /** Inserts what has no live key, no known id and no known request. */
  Inserted insert(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException;

  /** Gives tasks that wait, and have the generations that these were inserted with, another one; answers which. */
  BitSet regenerate(Connection connection, List<NewTask> tasks, long[] generations, long generation)
      throws SQLException;

  /**
   * Pushes back tasks that wait.
   *
   * @param resets whether what they carry, or how many attempts they have, may be another from now on
   */
  Touched touch(Connection connection, List<KeyTouch> touches, boolean resets, long seenMicros) throws SQLException;
}
