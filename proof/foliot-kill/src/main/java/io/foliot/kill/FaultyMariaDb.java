package io.foliot.kill;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.TcpProxy;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * MariaDB, which loses no confirmed write. Foliot connects as an ordinary user, because {@code read_only} does not
 * restrict a user with all rights.
 */
final class FaultyMariaDb implements FaultyDatabase {
  private static final String USER = "scheduler";

  private final MariaDbServer server = MariaDbServer.start();
  private final Database owner = server.createDatabase();
  private final String password = UUID.randomUUID().toString();

  FaultyMariaDb() {
    run("CREATE USER " + USER + "@'127.0.0.1' IDENTIFIED BY '" + password + "'",
        "GRANT ALL ON " + owner.name() + ".* TO " + USER + "@'127.0.0.1'");
  }

  @Override
  public MariaDbServer server() {
    return server;
  }

  @Override
  public Database database() {
    return new Database(owner.kind(), owner.host(), owner.port(), owner.name(), owner.options(), USER, password);
  }

  @Override
  public Database owner() {
    return owner;
  }

  @Override
  public void endSessions() {
    run("KILL USER " + USER + "@'127.0.0.1'");
  }

  @Override
  public void readOnly(boolean refuses) {
    run("SET GLOBAL read_only = " + (refuses ? "ON" : "OFF"));
  }

  @Override
  public String lockTable(String table) {
    return "LOCK TABLES " + table + " WRITE";
  }

  /** Returns the kinds of commits: single statements in auto-commit mode, and transactions. */
  @Override
  public Map<String, Predicate<String>> commits() {
    return Map.of("a submit", sql -> sql.contains("INSERT INTO foliot_task"), "a claim",
        sql -> sql.contains("UPDATE foliot_task SET state"), "a transaction", sql -> sql.contains("COMMIT"));
  }

  @Override
  public List<InjectedFault> atLast(TcpProxy proxy) {
    return List.of();
  }

  @Override
  public void close() {
    server.close();
  }
}
