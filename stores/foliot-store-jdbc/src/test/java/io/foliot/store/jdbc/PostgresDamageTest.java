package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests damaged rows in PostgreSQL. */
@Tag("long")
final class PostgresDamageTest extends DamageContract {
  @RegisterExtension
  private static final TestDatabase<PostgresServer> DATABASE = TestDatabase.postgres();

  @Override
  Database database() {
    return DATABASE.get();
  }
}
