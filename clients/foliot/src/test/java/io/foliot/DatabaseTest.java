package io.foliot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Cancellation;
import io.foliot.api.Job;
import io.foliot.api.TaskState;
import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.client.FoliotClient;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** Tests {@link Foliot#on(DataSource)} with PostgreSQL: the caller's transactions, and two nodes on one database. */
final class DatabaseTest extends FoliotContract {
  private static PostgresServer server;

  @TempDir
  private Path data;

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
      Tasks<String> tasks = foliot.tasks("orders", String.class).handle((text, attempt) -> handled.add(text));
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

  /** A server over the database of an application shows and changes the tasks and jobs of the application. */
  @Test
  void aServerOverTheDatabaseOperatesTheApplication() {
    FoliotConfig config = FoliotConfig.load(Map.of("store", database.jdbcUrl(), "store-user", database.user(),
        "store-password", database.password(), "data", data.toString(), "port", "0"), Map.of(), null);
    AtomicBoolean isBroken = new AtomicBoolean(true);
    try (Foliot foliot = Foliot.on(dataSource())) {
      Tasks<String> orders = foliot.tasks("orders", String.class).retry(1, Duration.ofSeconds(1))
          .handle((text, attempt) -> {
            if (isBroken.get()) {
              throw new IllegalStateException("broken");
            }
            handled.add(text);
          });
      foliot.jobs().put(Job.named("nightly").queue("orders").every(HOUR));
      orders.in(Duration.ZERO).key("order-7").submit("paid");
      try (FoliotServer server = FoliotServer.start(config, new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
          FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
        Await.until("the dead letter is shown", BOUND,
            () -> client.getByKey("orders", "order-7").state() == TaskState.FAILED);
        isBroken.set(false);
        client.redrive("orders", 10);
        Await.until("the application handles it", BOUND, () -> handled.contains("paid"));
        assertThat(client.getJob("nightly").state()).isEqualTo("ACTIVE");
      }
    }
  }

  @Test
  void twoNodesShareTheTasksOfADatabase() {
    try (Foliot submits = Foliot.on(dataSource()); Foliot handles = Foliot.on(dataSource())) {
      Tasks<String> tasks = submits.tasks("shared", String.class);
      handles.tasks("shared", String.class).handle((text, attempt) -> handled.add(text));
      for (int i = 0; i < 50; i++) {
        tasks.in(Duration.ofMillis(i)).submit("task " + i);
      }
      Await.until("all tasks are handled", BOUND, () -> handled.size() >= 50);
      assertThat(handled).doesNotHaveDuplicates().hasSize(50);
    }
  }
}
