package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests damaged rows in MariaDB. */
@Tag("long")
final class MariaDbDamageTest extends DamageContract {
  @RegisterExtension
  private static final TestDatabase<MariaDbServer> DATABASE = TestDatabase.mariaDb();

  @Override
  Database database() {
    return DATABASE.get();
  }
}
