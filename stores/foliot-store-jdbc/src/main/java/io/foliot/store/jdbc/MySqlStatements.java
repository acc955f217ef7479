package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The methods that all classes of statements for MariaDB and MySQL share. Thread-safe. */
final class MySqlStatements {
  /** Error code of a duplicate key. */
  private static final int DUPLICATE = 1062;
  /** Error codes of a statement that the user has no right to execute. */
  private static final Set<Integer> DENIED = Set.of(1044, 1142, 1143, 1227, 1370);
  /** Error codes of a full table and of a full disk. */
  private static final Set<Integer> FULL = Set.of(1114, 1021);

  private final int timeoutSeconds;
  private final boolean isMariaDb;
  private final SqlFiles files;
  private final SqlFiles.Template rowsOfVersion;
  private final SqlFiles.Template dropLive;
  private final SqlFiles.Template writeBodies;
  private final String writeBodiesRow;
  private final SqlFiles.Template remember;

  /**
   * Creates the statements of a database.
   *
   * @param timeoutSeconds how long a statement may take, in seconds
   * @param isMariaDb whether the server is MariaDB; otherwise it is MySQL
   * @param clock SQL expression for the time at which the statement began, in microseconds since 1970
   * @param rowClock SQL expression for the time at which a row is processed, in microseconds since 1970
   */
  MySqlStatements(int timeoutSeconds, boolean isMariaDb, String clock, String rowClock) {
    this.timeoutSeconds = timeoutSeconds;
    this.isMariaDb = isMariaDb;
    files = new SqlFiles("mysql",
        SqlFiles.constants(Map.of("clock_micros", clock, "row_clock_micros", rowClock, "isolation",
            isMariaDb ? "@@tx_isolation" : "@@transaction_isolation")));
    rowsOfVersion = files.template("rows_of_version", "wanted", "locking?");
    dropLive = files.template("drop_live", "ids");
    writeBodies = files.template("write_bodies", "rows");
    writeBodiesRow = files.text("write_bodies_row");
    remember = files.template("remember", "wanted");
  }

  SqlFiles files() {
    return files;
  }

  boolean isMariaDb() {
    return isMariaDb;
  }

  PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    statement.setQueryTimeout(timeoutSeconds);
    return statement;
  }

  /** Returns a table of parameters with these columns. */
  ParameterTable values(String... columns) {
    return new ParameterTable(isMariaDb ? "" : "ROW", columns);
  }

  static boolean isDuplicateKey(SQLException e) {
    return e.getErrorCode() == DUPLICATE;
  }

  static boolean isDenied(SQLException e) {
    return DENIED.contains(e.getErrorCode());
  }

  static boolean isFull(SQLException e) {
    return FULL.contains(e.getErrorCode());
  }

  /** Runs steps in the transaction of the caller, or else in a new transaction, which is then committed. */
  static <R> R together(Connection connection, Session.Step<R> steps) throws SQLException {
    return Session.together(connection, MySqlStatements::isFull, steps);
  }

  /** Returns the positions from 0 to {@code count - 1}. */
  static BitSet all(int count) {
    BitSet all = new BitSet(count);
    all.set(0, count);
    return all;
  }

  /** Returns the placeholders of an IN list. */
  static String list(int count) {
    return "?, ".repeat(count - 1) + "?";
  }

  /** Binds the parameters of an IN list from index {@code first} on. Returns the index of the next parameter. */
  static int bind(PreparedStatement statement, int first, List<TaskId> ids) throws SQLException {
    int at = first;
    for (TaskId id : ids) {
      statement.setBytes(at++, ParameterTable.bytes(id));
    }
    return at;
  }

  /** Executes a statement with these parameters. Returns the number of rows that it changed. */
  int execute(Connection connection, String sql, ParameterTable values) throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql)) {
      values.bind(statement, 1);
      return statement.executeUpdate();
    }
  }

  /** Executes a query with these parameters. Returns the positions of the items in its result. */
  BitSet places(Connection connection, String sql, ParameterTable values) throws SQLException {
    try (PreparedStatement select = prepare(connection, sql)) {
      values.bind(select, 1);
      try (ResultSet row = select.executeQuery()) {
        return Results.places(row);
      }
    }
  }

  /** Returns the positions of the rows that have the versions of this write, which begin with {@code versions}. */
  BitSet written(Connection connection, List<TaskId> ids, long versions) throws SQLException {
    ParameterTable values = values("id", "version");
    for (int i = 0; i < ids.size(); i++) {
      values.next().add(ids.get(i)).add(versions + i);
    }
    return rowsOfVersion(connection, values, false);
  }

  /**
   * Returns the positions of the rows that have these versions.
   *
   * @param locking whether to lock these rows, so that they keep their versions until the commit
   */
  BitSet rowsOfVersion(Connection connection, ParameterTable values, boolean locking) throws SQLException {
    return places(connection, rowsOfVersion.with("wanted", values.with()).when("locking", locking).text(), values);
  }

  /** Deletes live rows that this transaction has locked and copied to the kept rows. */
  void dropLive(Connection connection, List<TaskId> ids) throws SQLException {
    try (PreparedStatement delete = prepare(connection, dropLive.with("ids", list(ids.size())).text())) {
      int next = bind(delete, 1, ids);
      assert next == ids.size() + 1 : next;
      int rows = delete.executeUpdate();
      assert rows == ids.size() : rows;
    }
  }

  /** The new body of a task, as its column stores it. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record NewBody(TaskId id, byte[] body) {}

  /** Replaces the bodies of tasks that this transaction has locked. */
  void writeBodies(Connection connection, List<NewBody> bodies) throws SQLException {
    if (bodies.isEmpty()) {
      return;
    }
    String rows = (writeBodiesRow + ", ").repeat(bodies.size() - 1) + writeBodiesRow;
    try (PreparedStatement insert = prepare(connection, writeBodies.with("rows", rows).text())) {
      int at = 1;
      for (NewBody body : bodies) {
        insert.setBytes(at++, ParameterTable.bytes(body.id()));
        insert.setBytes(at++, body.body());
      }
      insert.executeUpdate();
    }
  }

  /** Stores an answer if it depends on no change, or on a change in {@code changed}. */
  void remember(Connection connection, List<NewAnswer> answers, BitSet changed) throws SQLException {
    ParameterTable values = values("queue", "task_key", "request", "digest", "kind", "id", "generation", "due_at",
        "state",
        "drop_at");
    for (NewAnswer answer : answers) {
      if (answer.change() < 0 || changed.get(answer.change())) {
        var result = answer.answered().result();
        values.next().add(answer.queue()).add(answer.name().keyOrEmpty()).add(answer.name().request())
            .add(answer.answered().digest()).add(ColumnCodes.of(result.kind())).add(result.id())
            .add(result.generation())
            .add(result.dueAt()).add(ColumnCodes.ofAnswer(result.state())).add(answer.answered().dropAt());
      }
    }
    if (values.rows() == 0) {
      return;
    }
    int rows = execute(connection, remember.with("wanted", values.with()).text(), values);
    assert rows == values.rows() : rows;
  }
}
