package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.Server;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Faults around a store on MariaDB. */
@Tag("long")
final class MariaDbFaultTest extends FaultContract {
  @RegisterExtension
  private static final TestDatabase<MariaDbServer> DATABASE = TestDatabase.mariaDb().onItsOwnServer();

  @Override
  Server server() {
    return DATABASE.server();
  }

  @Override
  Database database() {
    return DATABASE.get();
  }

  @Override
  Database freshDatabase() {
    return DATABASE.another();
  }

  @Override
  void terminateSessions() {
    Databases.strings(DATABASE.get(),
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()")
        .forEach(id -> Databases.execute(DATABASE.get(), "KILL SOFT CONNECTION " + id));
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
