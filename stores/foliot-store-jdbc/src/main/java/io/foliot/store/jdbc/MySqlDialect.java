package io.foliot.store.jdbc;

import io.foliot.core.store.Durability;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.Set;

/**
 * The dialect of MariaDB 10.6 and newer, and of MySQL 8.0.19 and newer. A statement contains the items of a batch as a
 * table of parameters (see {@link ParameterTable}).
 *
 * <p>An UPDATE does not return which rows it changed. So the UPDATE writes into each row a value that only this call
 * uses, and a second statement reads which rows have such a value. For a claim the value is the token, and no
 * transaction is needed. For any other UPDATE the value is a random version. Both statements are then in one short
 * transaction, and its row locks protect the version until the second statement reads it.
 *
 * <p>No column is ever read as NULL. On JDK 25, the JVM sometimes crashes in the compiled code of MariaDB's driver that
 * decodes a NULL (decision 0047).
 */
final class MySqlDialect implements Dialect {
  /**
   * SQL expression for the time at which the statement began, in microseconds since 1970. It uses UTC, so the time zone
   * of the session and its summer time do not matter.
   */
  private static final String CLOCK = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
  /** SQL expression for the time at which the expression is evaluated, in microseconds since 1970. */
  private static final String ROW_CLOCK = "(" + CLOCK + " + TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)))";

  /** Error codes of a write on a read-only server or in a read-only transaction. */
  private static final Set<Integer> READ_ONLY = Set.of(1290, 1792, 1836);
  /**
   * Error code of MariaDB's {@code innodb_snapshot_isolation}. A statement fails with this code if it must lock a row
   * that was changed after the snapshot was taken. Under READ COMMITTED, each statement takes a snapshot; under
   * REPEATABLE READ, each transaction takes one. MariaDB rolls back the transaction.
   */
  private static final int CHANGED_SINCE_SNAPSHOT = 1020;
  /**
   * Error codes of a deadlock, of a lock wait timeout, and of a row that has changed since the snapshot: the statement
   * had no effect and may be repeated.
   */
  private static final Set<Integer> ROLLED_BACK = Set.of(1213, 1205, CHANGED_SINCE_SNAPSHOT);

  private final MySqlStatements statements;
  private final MySqlRows rows = new MySqlRows();
  private final MySqlSubmits submits;
  private final MySqlClaims claims;
  private final MySqlRecords records;
  private final MySqlQueries queries;
  private final StoreClock clock;
  private final String durability;

  MySqlDialect(int timeoutSeconds, boolean isMariaDb) {
    this(timeoutSeconds, isMariaDb, CLOCK, ROW_CLOCK);
  }

  /**
   * Creates a dialect with these expressions for the clock. Tests replace the database's clock.
   *
   * @param timeoutSeconds how long a statement may take, in seconds
   * @param isMariaDb whether the server is MariaDB; otherwise it is MySQL
   * @param clock SQL expression for the time at which the statement began, in microseconds since 1970
   * @param rowClock SQL expression for the time at which a row is processed, in microseconds since 1970
   */
  MySqlDialect(int timeoutSeconds, boolean isMariaDb, String clock, String rowClock) {
    statements = new MySqlStatements(timeoutSeconds, isMariaDb, clock, rowClock);
    Results results = new Results(rows);
    SqlFiles files = statements.files();
    this.clock = new StoreClock(this);
    durability = files.text("durability");
    submits = new MySqlSubmits(statements, results);
    claims = new MySqlClaims(statements, results);
    records = new MySqlRecords(statements, results, this.clock);
    queries = new MySqlQueries(statements, results, this.clock);
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
    return statement.executeQuery();
  }

  @Override
  public String kind() {
    return statements.isMariaDb() ? "mariadb" : "mysql";
  }

  @Override
  public String migrations() {
    return "classpath:io/foliot/store/jdbc/mysql";
  }

  @Override
  public Durability durability(Connection connection) throws SQLException {
    try (PreparedStatement select = prepare(connection, durability); ResultSet row = select.executeQuery()) {
      row.next();
      int flush = row.getInt(2);
      String detail = (statements.isMariaDb() ? "MariaDB " : "MySQL ") + row.getString(1)
          + ", innodb_flush_log_at_trx_commit=" + flush + ", innodb_doublewrite=" + row.getString(3);
      // With 1 and 3, each commit waits for a sync of the log. With 0 and 2, the log is synced about once a second.
      return flush == 1 || flush == 3 ? new Durability("D", 0, detail) : new Durability("B", 2_000, detail);
    }
  }

  @Override
  public StoreClock clock() {
    return clock;
  }

  @Override
  public void text(PreparedStatement statement, int at, String text) throws SQLException {
    statement.setBytes(at, text.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String text(ResultSet row, int at) throws SQLException {
    return rows.text(row, at);
  }

  @Override
  public boolean isRolledBack(SQLException e) {
    return ROLLED_BACK.contains(e.getErrorCode());
  }

  @Override
  public SQLException ofTransaction(SQLException e) {
    // The driver reports this error with the general state HY000.
    return e.getErrorCode() == CHANGED_SINCE_SNAPSHOT
        ? new SQLTransactionRollbackException("could not serialize access: another transaction has changed a row after"
            + " the first read of this transaction; roll back and repeat the transaction: error=" + e.getMessage(),
            Session.NOT_SERIALIZABLE, CHANGED_SINCE_SNAPSHOT, e)
        : e;
  }

  @Override
  public boolean isDuplicate(SQLException e) {
    return MySqlStatements.isDuplicateKey(e);
  }

  @Override
  public boolean lockingReadsFindNewRows() {
    return true;
  }

  @Override
  public String schema(Connection connection, String database) throws SQLException {
    return connection.getCatalog();
  }

  @Override
  public boolean isDenied(SQLException e) {
    return MySqlStatements.isDenied(e);
  }

  @Override
  public boolean isFull(SQLException e) {
    return MySqlStatements.isFull(e);
  }

  @Override
  public boolean isReadOnly(SQLException e) {
    return READ_ONLY.contains(e.getErrorCode());
  }
}
