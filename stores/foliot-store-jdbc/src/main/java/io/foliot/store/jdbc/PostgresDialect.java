package io.foliot.store.jdbc;

import io.foliot.core.store.Durability;
import io.foliot.core.store.StoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * The dialect of PostgreSQL 12 and newer. One statement executes a batch. Its parameters are arrays with one element
 * for each item. Further statements are needed to read idempotency keys, to lock the rows of a read, and for an insert
 * that a caller repeats.
 *
 * <p>A data-modifying WITH reads the tables as they were when the statement began. If another transaction has locked a
 * row, PostgreSQL waits. Then it evaluates the WHERE of the UPDATE or DELETE again, on the newest version of the row.
 * So safety relies only on conditions in the WHERE of the UPDATE or DELETE itself.
 *
 * <p>A condition on the columns of a single row is written {@code CASE WHEN ... THEN true END}. The planner then uses
 * no statistics, and assumes that such a condition is true for half of the rows. Statistics of a state are outdated
 * within a second. A planner that expects few running tasks would read all running tasks once for each task of the
 * batch.
 */
final class PostgresDialect implements Dialect {
  /** SQL expression for the time at which the expression is evaluated, in microseconds since 1970. */
  private static final String CLOCK = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint";

  /** SQL state of a write in a read-only transaction. */
  private static final String READ_ONLY = "25006";
  /** SQL state of a statement that the user has no right to execute. */
  private static final String DENIED = "42501";
  /** SQL state of a full disk. */
  private static final String FULL = "53100";
  /**
   * SQL states of a deadlock, a failed serialization and an unavailable lock. The statement had no effect and may be
   * repeated.
   */
  private static final List<String> ROLLED_BACK = List.of("40P01", "40001", "55P03");

  private final PostgresStatements statements;
  private final PostgresSubmits submits;
  private final PostgresClaims claims;
  private final PostgresRecords records;
  private final PostgresQueries queries;
  private final StoreClock clock;
  private final String durability;
  private final String searchPath;

  PostgresDialect(int timeoutSeconds, boolean sessionsPlanByIndex) {
    this(timeoutSeconds, sessionsPlanByIndex, CLOCK);
  }

  /**
   * Creates a dialect with this expression for the clock. Tests replace the database's clock.
   *
   * @param timeoutSeconds how long a statement may take, in seconds
   * @param sessionsPlanByIndex the result of {@link PostgresSource#plansByIndex}
   * @param clock SQL expression for the time at which the expression is evaluated, in microseconds since 1970
   */
  PostgresDialect(int timeoutSeconds, boolean sessionsPlanByIndex, String clock) {
    statements = new PostgresStatements(timeoutSeconds, sessionsPlanByIndex, clock);
    Results results = new Results(new PostgresRows());
    submits = new PostgresSubmits(statements, results);
    claims = new PostgresClaims(statements);
    records = new PostgresRecords(statements, results);
    queries = new PostgresQueries(statements, results);
    SqlFiles files = statements.files();
    this.clock = new StoreClock(this);
    durability = files.text("durability");
    searchPath = files.text("search_path");
  }

  @Override
  public SubmitStatements submits() {
    return submits;
  }

  @Override
  public ClaimStatements claims() {
    return claims;
  }

  @Override
  public RecordStatements records() {
    return records;
  }

  @Override
  public QueryStatements queries() {
    return queries;
  }

  @Override
  public SqlFiles files() {
    return statements.files();
  }

  @Override
  public PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    return statements.prepare(connection, sql);
  }

  @Override
  public ResultSet rows(PreparedStatement statement) throws SQLException {
    return PostgresStatements.rows(statement);
  }

  @Override
  public String kind() {
    return "postgresql";
  }

  @Override
  public String migrations() {
    return "classpath:io/foliot/store/jdbc/postgresql";
  }

  @Override
  public Durability durability(Connection connection) throws SQLException {
    try (PreparedStatement select = prepare(connection, durability); ResultSet row = select.executeQuery()) {
      row.next();
      boolean isCrashSafe = row.getString(2).equals("on") && row.getString(3).equals("on");
      boolean commitWaits = !row.getString(4).equals("off");
      String detail = "PostgreSQL " + row.getString(1) + ", fsync=" + row.getString(2) + ", full_page_writes="
          + row.getString(3) + ", synchronous_commit=" + row.getString(4);
      // A commit that does not wait for the disk is synced within three rounds of the WAL writer.
      return !isCrashSafe
          ? new Durability("NONE", 0, detail)
          : commitWaits ? new Durability("D", 0, detail) : new Durability("B", 3L * row.getInt(5), detail);
    }
  }

  @Override
  public StoreClock clock() {
    return clock;
  }

  @Override
  public void text(PreparedStatement statement, int at, String text) throws SQLException {
    statement.setString(at, text);
  }

  @Override
  public String text(ResultSet row, int at) throws SQLException {
    return row.getString(at);
  }

  @Override
  public boolean isRolledBack(SQLException e) {
    return ROLLED_BACK.contains(e.getSQLState());
  }

  @Override
  public SQLException ofTransaction(SQLException e) {
    return e;
  }

  @Override
  public boolean isDuplicate(SQLException e) {
    return PostgresStatements.isDuplicateKey(e);
  }

  @Override
  public boolean lockingReadsFindNewRows() {
    return false;
  }

  @Override
  public String schema(Connection connection, String database) throws SQLException {
    try (PreparedStatement select = prepare(connection, searchPath); ResultSet row = select.executeQuery()) {
      row.next();
      String schema = row.getString(1);
      if (schema == null) {
        throw new StoreException("the schema does not exist; it is not created, because its name may be mistyped:"
            + " database=" + database + ", search_path=" + row.getString(2) + ". Correct currentSchema in the URL or"
            + " the search_path of the user, or create the schema (CREATE SCHEMA)", null);
      }
      return schema;
    }
  }

  @Override
  public boolean isDenied(SQLException e) {
    return DENIED.equals(e.getSQLState());
  }

  @Override
  public boolean isFull(SQLException e) {
    return FULL.equals(e.getSQLState());
  }

  @Override
  public boolean isReadOnly(SQLException e) {
    return READ_ONLY.equals(e.getSQLState());
  }
}
