package io.foliot.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The connections to a database, and the threads on which calls wait for the database. The next call replaces a broken
 * connection, however long the database was unavailable.
 */
final class Connections implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Connections.class.getName());

  /** Connections of an application's pool that are not for calls: background work, and the application itself. */
  private static final int OTHERS = 2;
  /** Largest number of calls that wait for a thread. */
  private static final int MAX_WAITING = 10_000;
  /** Longest time that a call waits for a connection of the store's own pool, before it fails as unavailable. */
  static final Duration CONNECT = Duration.ofSeconds(5);
  private static final String MARIADB_DRIVER = "org.mariadb.jdbc.Driver";
  /** Time from a statement's timeout until its connection is closed, if the statement could not be cancelled. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  /**
   * Settings of a session of MariaDB. MySQL has neither of these settings. Each of them is in a comment that begins
   * with {@code /*M!} and a version number. MariaDB executes this comment from that version on, and MySQL ignores it.
   *
   * <ul>
   * <li>MariaDB ends a session that has been idle in a transaction for 20 s. Such a session has lost its client.
   * Without the setting, its transaction would keep its locks for hours. The transaction of a batch is never idle that
   * long, because it waits only for its own statements.
   * <li>A statement that needs a row of an open transaction waits, and then uses the newest version of the row. With
   * {@code innodb_snapshot_isolation}, the statement would fail even under READ COMMITTED. Depending on the version of
   * the server, it would fail before or after the wait.
   * </ul>
   */
  private static final String SESSION_SETTINGS = "SET /*M!100300 SESSION idle_transaction_timeout = 20, */"
      + " /*M!110402 SESSION innodb_snapshot_isolation = OFF, */ @foliot = 1";

  private final DataSource source;
  /** The pool that this store opened; null if the application's pool is used. */
  private final @Nullable HikariDataSource own;
  private final String name;
  private final ThreadPoolExecutor threads;

  private Connections(DataSource source, @Nullable HikariDataSource own, String name, int count) {
    this.source = source;
    this.own = own;
    this.name = name;
    threads = new ThreadPoolExecutor(count, count, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MAX_WAITING),
        task -> daemon(task, "foliot-jdbc"));
  }

  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  static Connections open(JdbcSource source, int count, Duration timeout) {
    return switch (source) {
      case JdbcSource.Given given -> new Connections(given.dataSource(), null, "the given data source",
          within(poolSize(given.dataSource()), count));
      case JdbcSource.Login login -> {
        HikariDataSource pool = opened(login, count, timeout);
        yield new Connections(pool, pool, login.toString(), count);
      }
    };
  }

  /** Returns the size of an application's pool, or 0 if the pool does not tell it. */
  private static int poolSize(DataSource source) {
    try {
      return source.isWrapperFor(HikariDataSource.class)
          ? Math.max(0, source.unwrap(HikariDataSource.class).getMaximumPoolSize())
          : 0;
    } catch (SQLException e) {
      LOG.log(System.Logger.Level.DEBUG, "the data source does not tell the size of its pool", e);
      return 0;
    }
  }

  /**
   * Returns how many calls at a time an application's pool permits. Besides the connection of each call, one is for
   * background work and one for the application. A call that has to wait for a connection would fail when the pool's
   * patience ends; without a thread, it waits in the queue of calls.
   *
   * @throws StoreException if a call in a transaction of the application could not have a second connection
   */
  private static int within(int poolSize, int count) {
    if (poolSize == 1) {
      throw new StoreException("the pool of the data source has one connection, and a task that is submitted in a"
          + " transaction may need a second one: set its maximum size to 10, or to 2 at least: maximumPoolSize=1",
          null);
    }
    int permitted = Math.max(1, poolSize - OTHERS);
    if (poolSize == 0 || permitted >= count) {
      return count;
    }
    LOG.log(System.Logger.Level.WARNING, "the pool of the data source is small, so the store makes fewer calls at a"
        + " time: maximumPoolSize=" + poolSize + ", calls=" + permitted + ", otherwise=" + count);
    return permitted;
  }

  /** Opens a pool. Messages of pools and drivers may contain the URL; the exception of this method does not. */
  private static HikariDataSource opened(JdbcSource.Login login, int count, Duration timeout) {
    try {
      return pool(login, count, timeout);
    } catch (StoreException e) {
      throw e;
    } catch (RuntimeException e) {
      // The cause is left out: its message may contain the password.
      throw new StoreException("the URL of the database cannot be used: database=" + login + ", error="
          + login.redacted(e.getMessage() + ""), null);
    }
  }

  /** Ensures that the driver of MariaDB and MySQL is on the class path; this module does not bring it. */
  private static void ensureDriver() {
    try {
      Class.forName(MARIADB_DRIVER, false, Connections.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new StoreException("the driver of MariaDB and MySQL is missing on the class path: add the dependency"
          + " org.mariadb.jdbc:mariadb-java-client", e);
    }
  }

  private static HikariDataSource pool(JdbcSource.Login login, int count, Duration timeout) {
    HikariConfig config = new HikariConfig();
    config.setPoolName("foliot");
    // One connection for each thread, and one for background work.
    config.setMaximumPoolSize(count + 1);
    config.setConnectionTimeout(CONNECT.toMillis());
    config.setInitializationFailTimeout(-1);
    Duration socketTimeout = timeout.plus(GRACE);
    if (login.isPostgres()) {
      config.setDataSource(new PostgresSource(login, CONNECT, socketTimeout));
    } else {
      ensureDriver();
      config.setJdbcUrl(login.driverUrl());
      config.setDataSourceProperties(login.driverProperties(CONNECT, socketTimeout));
      config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
      config.setConnectionInitSql(SESSION_SETTINGS);
    }
    return new HikariDataSource(config);
  }

  DataSource source() {
    return source;
  }

  String name() {
    return name;
  }

  /** The work of a call on its connection. */
  interface Work<R> {
    R with(Session session) throws SQLException;
  }

  /**
   * Runs work on one of the threads. The returned stage fails with {@link StoreAwayException} if too many calls wait,
   * or if no connection is available.
   */
  <R> CompletionStage<R> call(Dialect dialect, Work<R> work) {
    CompletableFuture<R> stage = new CompletableFuture<>();
    try {
      threads.execute(() -> {
        try {
          stage.complete(now(dialect, work));
        } catch (Throwable e) {
          stage.completeExceptionally(e);
        }
      });
    } catch (RejectedExecutionException e) {
      stage.completeExceptionally(threads.isShutdown()
          ? new StoreException("the store is closed", e)
          : new StoreAwayException("too many calls wait for the database: calls=" + MAX_WAITING, e));
    }
    return stage;
  }

  /** Runs work on the caller's thread, and blocks until a connection is available or the pool gives up. */
  <R> R now(Dialect dialect, Work<R> work) {
    try (Connection connection = connection(); AutoCommit mode = AutoCommit.on(connection)) {
      Session session = Session.own(mode.connection(), dialect);
      try {
        return work.with(session);
      } catch (SQLException e) {
        if (own != null && dialect.isReadOnly(e)) {
          // The server has become a standby. The next connection may lead to the primary.
          own.evictConnection(connection);
        }
        throw translated(dialect, e, session.mayHaveWritten());
      }
    } catch (SQLException e) {
      throw translated(dialect, e, true);
    }
  }

  /**
   * Turns auto-commit on for a call, if the pool has returned the connection without it. {@link #close} then turns
   * auto-commit off again.
   */
  private record AutoCommit(Connection connection, boolean before) implements AutoCloseable {
    static AutoCommit on(Connection connection) throws SQLException {
      AutoCommit mode = new AutoCommit(connection, connection.getAutoCommit());
      mode.set(true);
      return mode;
    }

    @Override
    public void close() throws SQLException {
      set(before);
    }

    private void set(boolean wanted) throws SQLException {
      if (!before) {
        connection.setAutoCommit(wanted);
      }
    }
  }

  private Connection connection() {
    try {
      return source.getConnection();
    } catch (SQLException e) {
      throw new StoreAwayException("the database is unavailable: database=" + name + ", " + reason(e), e);
    }
  }

  /**
   * Returns the SQL state and the message of the driver's exception for a failed connection or statement. The exception
   * of a pool reports only a timeout; its cause is the driver's last exception.
   */
  static String reason(SQLException failure) {
    SQLException root = failure instanceof SQLTransientConnectionException
        && failure.getCause() instanceof SQLException last
            ? last
            : failure;
    StringBuilder text = new StringBuilder(root.getMessage() + "");
    for (Throwable cause = root.getCause(); cause != null; cause = cause.getCause()) {
      String more = cause.getMessage();
      if (more != null && text.indexOf(more) < 0) {
        text.append("; ").append(more);
      }
    }
    return "sqlState=" + root.getSQLState() + ", error=" + text;
  }

  /** Returns the exception of a call that wrote nothing because the database is full. */
  static StoreException full(SQLException e) {
    StoreException full = new StoreFullException(
        "the database is full; new tasks are refused until it has space: error=" + e.getMessage());
    full.addSuppressed(e);
    return full;
  }

  private StoreException translated(Dialect dialect, SQLException e, boolean mayHaveWritten) {
    if (dialect.isFull(e) && !mayHaveWritten) {
      return full(e);
    }
    String details = "database=" + name + ", " + reason(e);
    if (dialect.isReadOnly(e)) {
      String why = "the database server is read-only; it may be a standby: " + details;
      return mayHaveWritten ? new StoreException(why, e) : new StoreAwayException(why, e);
    }
    return new StoreException("the database is unavailable, or has refused a statement: " + details, e);
  }

  @Override
  public void close() {
    threads.shutdown();
    try {
      while (!threads.awaitTermination(1, TimeUnit.MINUTES)) {
        // Every statement has a timeout, so the threads end.
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (own != null) {
      own.close();
    }
  }
}
