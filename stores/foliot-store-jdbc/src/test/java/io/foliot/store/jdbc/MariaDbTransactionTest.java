package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls in transactions of callers, on MariaDB. */
final class MariaDbTransactionTest extends TransactionContract {
  @RegisterExtension
  private static final TestDatabase<MariaDbServer> DATABASE = TestDatabase.mariaDb();

  @Override
  Database database() {
    return DATABASE.get();
  }
}
