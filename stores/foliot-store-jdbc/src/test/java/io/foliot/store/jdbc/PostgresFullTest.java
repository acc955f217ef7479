package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the store when statements fail as on a PostgreSQL that has run out of space. */
@Tag("long")
final class PostgresFullTest extends FullContract {
  @RegisterExtension
  private static final TestDatabase<PostgresServer> DATABASE = TestDatabase.postgres();

  @Override
  Database database() {
    return DATABASE.get();
  }

  @Override
  SQLException full() {
    return new SQLException("could not extend file: No space left on device", "53100");
  }
}
