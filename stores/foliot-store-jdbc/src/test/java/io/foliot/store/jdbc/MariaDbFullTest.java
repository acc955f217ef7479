package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the store when statements fail as on a MariaDB that has run out of space. */
@Tag("long")
final class MariaDbFullTest extends FullContract {
  @RegisterExtension
  private static final TestDatabase<MariaDbServer> DATABASE = TestDatabase.mariaDb();

  @Override
  Database database() {
    return DATABASE.get();
  }

  @Override
  SQLException full() {
    return new SQLException("The table 'foliot_task' is full", "HY000", 1114);
  }
}
