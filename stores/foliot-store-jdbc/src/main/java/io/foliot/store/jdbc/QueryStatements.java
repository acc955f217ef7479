package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Probed;
import io.foliot.core.store.SlotSet;
import io.foliot.store.jdbc.Dialect.RowGroup;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Statements that read the index, page through records, count, and delete expired rows. */
interface QueryStatements {
  /** Returns when tasks can be claimed next, in the order of the given ids, as {@code TaskStore.probe} does. */
  List<Probed> probe(Connection connection, List<TaskId> ids) throws SQLException;

  /** Returns the index entries that scans find, in the order of the scans, as {@code TaskStore.due} does. */
  List<DueSlice> due(Connection connection, QueueIds numbers, List<DueScan> scans) throws SQLException;

  /**
   * Returns the index entries of the parked tasks of a queue in these slots, in the order of (wakeAt, id).
   *
   * @param queue the number of the queue
   * @param name the name of the queue
   * @param after the result begins after this entry; null to begin with the first entry
   * @param limit the largest number of entries
   */
  List<DueEntry> parked(Connection connection, int queue, String name, SlotSet slots, @Nullable DueEntry after,
      int limit) throws SQLException;

  /** Returns the numbers of the queues with parked tasks in these slots. */
  List<Integer> parkedQueues(Connection connection, SlotSet slots) throws SQLException;

  /**
   * Returns the next page of the live records of all queues in the order of ids.
   *
   * @param after the page begins after this id
   * @param limit the largest number of records
   * @param scanned the largest number of rows that are examined
   */
  Page pageOfLive(Connection connection, QueueIds numbers, TaskId after, int limit, int scanned) throws SQLException;

  /**
   * Returns the next page of the live and the kept records of a queue in the order of ids.
   *
   * @param state the code of a state in rows, or 0 for all states
   * @param after the page begins after this id
   * @param limit the largest number of records
   * @param scanned the largest number of rows of each table that are examined
   */
  Page pageOfQueue(Connection connection, QueueIds numbers, int queue, int state, TaskId after, int limit, int scanned)
      throws SQLException;

  /** Returns whether a queue has a live task; may read the whole table, in statements of bounded duration. */
  boolean hasLive(Connection connection, int queue) throws SQLException;

  /** Returns the number of rows of each group. */
  Map<RowGroup, Long> tally(Connection connection) throws SQLException;

  /** Deletes at most {@code limit} kept tasks that have expired, oldest first. Returns their number. */
  int forgetKept(Connection connection, int limit) throws SQLException;

  /** Deletes at most {@code limit} answers that have expired, oldest first. Returns their number. */
  int forgetAnswers(Connection connection, int limit) throws SQLException;
}
