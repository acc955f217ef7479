package io.foliot.store.redis;

import io.foliot.backends.RedisServer;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.HeldStore;
import io.foliot.testkit.ServerClockStoreContract;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract kit on one server. */
final class RedisStoreTest extends ServerClockStoreContract {
  private static RedisServer server;
  private static int stores;

  private RedisOptions options = RedisOptions.at("");

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected TaskStore open() {
    options = RedisOptions.builder(server.uri()).namespace("kit-" + stores++).slots(8).build();
    return RedisStore.open(options);
  }

  @Override
  protected TaskStore reopen(TaskStore old) {
    old.close();
    return RedisStore.open(options);
  }

  @Override
  protected HeldStore openHeld() {
    return new HeldRedisStore(server.port(), options.namespace(), options.slots());
  }

  @Override
  protected void passes(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() - end < 0) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
  }

  @Override
  protected Duration tick() {
    return Duration.ofMillis(150);
  }
}
