package io.foliot.store.redis;

import io.foliot.core.store.TaskStore;
import io.foliot.servers.RedisCluster;
import io.foliot.testkit.ServerClockStoreContract;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The kit on a cluster of three primaries, found to be one by asking any of them. */
final class RedisClusterStoreTest extends ServerClockStoreContract {
  private static RedisCluster cluster;
  private static int stores;

  private RedisOptions options = RedisOptions.at("");

  @BeforeAll
  static void start() {
    cluster = RedisCluster.start(3, 0, Map.of());
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @Override
  protected TaskStore open() {
    String uri = cluster.nodes().get(stores % 3).uri();
    options = RedisOptions.at(uri).withNamespace("kit-" + stores++).withSlots(16);
    return RedisStore.open(options);
  }

  @Override
  protected TaskStore reopen(TaskStore old) {
    old.close();
    return RedisStore.open(options);
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
    return Duration.ofMillis(200);
  }
}
