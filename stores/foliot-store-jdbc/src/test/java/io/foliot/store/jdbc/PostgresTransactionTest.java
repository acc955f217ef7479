package io.foliot.store.jdbc;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls in transactions of callers, on PostgreSQL. */
final class PostgresTransactionTest extends TransactionContract {
  @RegisterExtension
  private static final TestDatabase<PostgresServer> DATABASE = TestDatabase.postgres();

  @Override
  Database database() {
    return DATABASE.get();
  }
}
