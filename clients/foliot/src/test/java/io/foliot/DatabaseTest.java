package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Tests {@link Foliot#on(DataSource)} with PostgreSQL: the caller's transactions, and two nodes on one database. */
final class DatabaseTest extends FoliotContract {
  private static PostgresServer server;

  private Database database;

  private final List<String> handled = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void startServer() {
    server = PostgresServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @BeforeEach
  void createDatabase() {
    database = server.createDatabase();
  }

  @Override
  Foliot open(FoliotBuilder builder) {
    return builder.on(dataSource());
  }

  @Override
  boolean isDurable() {
    return true;
  }

  private DataSource dataSource() {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(database.jdbcUrl());
    source.setUser(database.user());
    source.setPassword(database.password());
    return source;
  }

  @Override
  Connection transaction() throws SQLException {
    Connection connection = database.connect();
    connection.setAutoCommit(false);
    return connection;
  }

  @Test
  void touchAndCancelJoinTheCallersTransaction() throws SQLException {
    try (Foliot foliot = Foliot.on(dataSource()); Connection transaction = transaction()) {
      Tasks<String> tasks = foliot.tasks("orders", String.class).handle((text, run) -> handled.add(text));
      tasks.in(HOUR).key("a").with(transaction).submit("committed");
      assertThat(tasks.key("a").with(transaction).touch(HOUR)).isTrue();
      transaction.commit();
      assertThat(tasks.key("a").touch(HOUR)).isTrue();

      assertThat(tasks.key("a").with(transaction).cancel()).isEqualTo(Cancellation.CANCELLED);
      transaction.rollback();
      assertThat(tasks.key("a").with(transaction).touch(Duration.ZERO)).isTrue();
      transaction.commit();
      Await.until("the task is handled", BOUND, () -> !handled.isEmpty());
      assertThat(handled).containsExactly("committed");
    }
  }

  @Test
  void aFailedTransactionIsReportedWithItsSqlState() throws SQLException {
    try (Foliot foliot = Foliot.on(dataSource());
        Connection transaction = transaction();
        Statement statement = transaction.createStatement()) {
      Tasks<String> tasks = foliot.tasks("orders", String.class);
      tasks.in(HOUR).submit("warm");
      assertThatThrownBy(() -> statement.execute("no such statement")).isInstanceOf(SQLException.class);
      assertThatThrownBy(() -> tasks.in(HOUR).key("b").with(transaction).submit("x"))
          .isInstanceOfSatisfying(TransactionException.class,
              failed -> assertThat(failed.sqlException().getSQLState()).isEqualTo("25P02"));
      transaction.rollback();
    }
  }

  @Test
  void twoNodesShareTheTasksOfADatabase() {
    try (Foliot submits = Foliot.on(dataSource()); Foliot handles = Foliot.on(dataSource())) {
      Tasks<String> tasks = submits.tasks("shared", String.class);
      handles.tasks("shared", String.class).handle((text, run) -> handled.add(text));
      for (int i = 0; i < 50; i++) {
        tasks.in(Duration.ofMillis(i)).submit("task " + i);
      }
      Await.until("all tasks are handled", BOUND, () -> handled.size() >= 50);
      assertThat(handled).doesNotHaveDuplicates().hasSize(50);
    }
  }
}
