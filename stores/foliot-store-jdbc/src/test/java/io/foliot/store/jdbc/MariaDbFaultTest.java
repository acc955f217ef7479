package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.Server;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Faults around a store on MariaDB. */
@Tag("long")
final class MariaDbFaultTest extends FaultContract {
  private static MariaDbServer server;
  private static Database database;

  @BeforeAll
  static void startServer() {
    server = MariaDbServer.start();
    database = server.createDatabase();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Override
  Server server() {
    return server;
  }

  @Override
  Database database() {
    return database;
  }

  @Override
  Database freshDatabase() {
    return server.createDatabase();
  }

  @Override
  void terminateSessions() {
    Databases.strings(database,
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()")
        .forEach(id -> Databases.execute(database, "KILL SOFT CONNECTION " + id));
  }

  @Override
  String lockWaiters() {
    return "SELECT trx_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
  }

  @Override
  String lockTasks() {
    return "SELECT id FROM foliot_task FOR UPDATE";
  }
}
