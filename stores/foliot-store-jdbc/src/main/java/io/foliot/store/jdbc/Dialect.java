package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.Due;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.Probed;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.SlotSet;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The statements, as a database speaks them. Each method takes effect as a whole or not at all, is committed when it
 * returns (on a connection that commits by itself), and holds no lock behind its last statement.
 *
 * <p>There are two kinds of writes. The plain ones ({@link #insert}, {@link #claim}, {@link #finish}, {@link #touch},
 * {@link #park}) decide in SQL, for the hot cases alone; what they leave goes the general way: {@link #read}, the life of a
 * task in this process, and {@link #update}, {@link #end}, {@link #enter}, which write a row only if its version is still
 * the one that was read. Lists are in the order of ids, so that batches take row locks in the same order.
 */
interface Dialect {
  /** Prepares a statement that gives up in time. */
  PreparedStatement prepare(Connection connection, String sql) throws SQLException;

  /** A word for people. */
  String kind();

  /** Where the migrations are. */
  String migrations();

  Durability durability(Connection connection) throws SQLException;

  /** The clock, in microseconds since 1970. */
  long micros(Connection connection) throws SQLException;

  /** What a new generation must at least be, besides the clock. */
  default long floor(Connection connection) throws SQLException {
    try (PreparedStatement select = prepare(connection, "SELECT floor FROM foliot_clock");
        ResultSet row = select.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Inserts a queue by its name unless it is there. */
  String insertQueue();

  void text(PreparedStatement statement, int at, String text) throws SQLException;

  String text(ResultSet row, int at) throws SQLException;

  /** Inserts what has no live key, no known id and no known request. */
  Inserted insert(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException;

  /** Gives tasks that wait, and have the generations that these were inserted with, another one; answers which. */
  BitSet regenerate(Connection connection, List<NewTask> tasks, long[] generations, long generation)
      throws SQLException;

  /**
   * Reads records with the clock and the floor.
   *
   * @param bodies whether what the tasks carry is read too; else it is {@link Rows#UNREAD}
   * @param locking whether live rows are read as they are now, and not as they were when a longer transaction began, for
   *     which they may get locked
   */
  Snapshot read(Connection connection, Numbers numbers, Wanted wanted, boolean bodies, boolean locking)
      throws SQLException;

  /**
   * Writes live records that stay live; answers which. The answers that depend on one that was written, or on none, are
   * remembered with it.
   *
   * @throws SQLException by which {@link #isDuplicate} if one of the requests has been answered meanwhile; then nothing was
   *     written
   */
  BitSet update(Connection connection, List<Change> changes, List<NewAnswer> answers) throws SQLException;

  /** Moves live records that have ended to what is kept; answers which. */
  BitSet end(Connection connection, List<Change> changes) throws SQLException;

  /** Moves live rows that cannot be read to what is kept, as FAILED and with their bytes; answers which. */
  BitSet setAside(Connection connection, List<Unreadable> rows) throws SQLException;

  /** Writes live records that were not, of a kept one or of another store's; answers which. */
  BitSet enter(Connection connection, List<Change> changes) throws SQLException;

  /** Claims tasks that wait. */
  Claimed claim(Connection connection, Numbers numbers, List<NewClaim> claims, int slotCount) throws SQLException;

  /** Moves the index entries of tasks that are not due. It may leave out rows that another statement is changing. */
  Claimed look(Connection connection, Numbers numbers, List<NewClaim> looks, int slotCount) throws SQLException;

  /** Ends running tasks that succeeded, whose claim stands, and that have no successor; answers which. */
  BitSet finish(Connection connection, List<Settlement> settlements, List<Retention> retentions,
      long otherRetentionMillis) throws SQLException;

  /**
   * Pushes back tasks that wait.
   *
   * @param resets whether what they carry, or how many attempts they have, may be another from now on
   */
  Touched touch(Connection connection, List<KeyTouch> touches, boolean resets, long seenMicros) throws SQLException;

  /** Parks tasks that wait and are due; answers which. */
  BitSet park(Connection connection, List<DueEntry> entries) throws SQLException;

  /** When tasks have to be looked at next, in the order of the ids; as {@code TaskStore.probe}. */
  List<Probed> probe(Connection connection, List<TaskId> ids) throws SQLException;

  List<DueSlice> due(Connection connection, Numbers numbers, List<DueScan> scans) throws SQLException;

  List<DueEntry> parked(Connection connection, int queue, String name, SlotSet slots, @Nullable DueEntry after,
      int limit) throws SQLException;

  /** The numbers of the queues with parked tasks in these slots. */
  List<Integer> parkedQueues(Connection connection, SlotSet slots) throws SQLException;

  /**
   * Pages through records in the order of ids.
   *
   * @param queue the number of the queue, or null for the live tasks of all
   * @param state what stands in the rows, or 0 for all
   * @param limit how many records at most
   * @param scanned how many rows are looked at
   */
  Page page(Connection connection, Numbers numbers, @Nullable Integer queue, int state, TaskId after, int limit,
      int scanned) throws SQLException;

  /** Whether a queue has a live task, by an index. */
  boolean hasLive(Connection connection, int queue) throws SQLException;

  /** How many rows there are by queue, state, and whether they are parked. */
  Map<Tally, Long> tally(Connection connection) throws SQLException;

  /** Forgets kept tasks whose time is over, oldest first; answers how many. */
  int forgetKept(Connection connection, int limit) throws SQLException;

  /** Forgets answers whose time is over, oldest first; answers how many. */
  int forgetAnswers(Connection connection, int limit) throws SQLException;

  /** Forgets the answers to these requests if their time is over. */
  void forgetAnswers(Connection connection, List<RequestName> names, Numbers numbers) throws SQLException;

  /** Whether a statement failed, and nothing else with it, because another one was in its way. */
  boolean isRolledBack(SQLException e);

  /** Whether a statement failed because a row with its name is there already. */
  boolean isDuplicate(SQLException e);

  /** Whether a statement found no room. */
  boolean isFull(SQLException e);

  /** Whether this connection is to a server that does not write. */
  boolean isReadOnly(SQLException e);

  /**
   * A live row that cannot be read.
   *
   * @param version the version it was read with
   * @param reason as it is shown of the final record
   * @param keptMillis how long it is kept
   */
  record Unreadable(TaskId id, long version, String reason, long keptMillis) {}

  /** A count of rows. */
  record Tally(int queue, int state, boolean parked) {}

  /** The instant or the delay that is meant. */
  static long millis(Due due) {
    return switch (due) {
      case Due.At at -> at.millis();
      case Due.After after -> after.delayMillis();
    };
  }
}
