package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.Server;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * An empty database of a real server for a test class, registered as an extension in a static field. The classes share
 * one server for each kind of database. A class that stops or disturbs its server uses {@link #onItsOwnServer}.
 *
 * @param <S> the server
 */
final class TestDatabase<S extends Server> implements BeforeAllCallback, AfterAllCallback {
  private static final Namespace SERVERS = Namespace.create(TestDatabase.class);

  private final Class<S> kind;
  private final Supplier<S> start;
  private final Function<S, Database> create;
  private final boolean isShared;
  private @Nullable S server;
  private @Nullable Database database;

  private TestDatabase(Class<S> kind, Supplier<S> start, Function<S, Database> create, boolean isShared) {
    this.kind = kind;
    this.start = start;
    this.create = create;
    this.isShared = isShared;
  }

  static TestDatabase<PostgresServer> postgres() {
    return new TestDatabase<>(PostgresServer.class, PostgresServer::start, PostgresServer::createDatabase, true);
  }

  static TestDatabase<MariaDbServer> mariaDb() {
    return new TestDatabase<>(MariaDbServer.class, MariaDbServer::start, MariaDbServer::createDatabase, true);
  }

  /** Returns a database of a separate MariaDB with these settings, which no other class uses. */
  static TestDatabase<MariaDbServer> mariaDb(Map<String, String> settings) {
    return new TestDatabase<>(MariaDbServer.class, () -> MariaDbServer.start(settings), MariaDbServer::createDatabase,
        false);
  }

  /** Returns a database of the same kind on a separate server, which no other class uses. */
  TestDatabase<S> onItsOwnServer() {
    return new TestDatabase<>(kind, start, create, false);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    // The store of the root context closes the server when the test run ends.
    server = isShared
        ? context.getRoot().getStore(SERVERS).computeIfAbsent(kind, none -> start.get(), kind)
        : start.get();
    database = another();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (!isShared) {
      server().close();
    }
  }

  S server() {
    return Objects.requireNonNull(server);
  }

  /** Returns the database of the test class. */
  Database get() {
    return Objects.requireNonNull(database);
  }

  /** Creates one more empty database. */
  Database another() {
    return create.apply(server());
  }
}
