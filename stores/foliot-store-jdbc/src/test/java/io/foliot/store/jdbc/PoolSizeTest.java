package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.core.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests how many connections of an application's pool a store takes. */
final class PoolSizeTest {
  @RegisterExtension
  private static final TestDatabase<PostgresServer> POSTGRES = TestDatabase.postgres();

  private static HikariDataSource pool(int size) {
    Database database = POSTGRES.another();
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(database.jdbcUrl());
    pool.setUsername(database.user());
    pool.setPassword(database.password());
    pool.setMaximumPoolSize(size);
    return pool;
  }

  @Test
  void aPoolOfOneConnectionIsRefused() {
    try (HikariDataSource pool = pool(1)) {
      assertThatThrownBy(() -> JdbcStore.open(JdbcOptions.of(pool))).isInstanceOf(StoreException.class)
          .hasMessageContaining("maximumPoolSize=1");
    }
  }

  @Test
  void callsLeaveConnectionsOfASmallPoolToTheApplication() {
    try (HikariDataSource pool = pool(4);
        Connections connections = Connections.open(JdbcSource.of(pool), JdbcOptions.DEFAULT_CONNECTIONS,
            Duration.ofSeconds(5))) {
      Dialect dialect = Schema.dialect(pool, "test", Duration.ofSeconds(5));
      AtomicInteger running = new AtomicInteger();
      CompletableFuture<Boolean> end = new CompletableFuture<>();
      List<CompletionStage<Boolean>> calls = new ArrayList<>();
      for (int i = 0; i < JdbcOptions.DEFAULT_CONNECTIONS; i++) {
        calls.add(connections.call(dialect, session -> {
          running.incrementAndGet();
          return end.join();
        }));
      }
      try {
        Await.until("calls run", Duration.ofSeconds(30), () -> running.get() == 2);
        assertThat(pool.getHikariPoolMXBean().getThreadsAwaitingConnection()).isZero();
        assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isEqualTo(2);
      } finally {
        end.complete(true);
      }
      assertThat(calls).allSatisfy(call -> assertThat(call.toCompletableFuture().join()).isTrue());
    }
  }
}
