package io.foliot.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.RedisCluster;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.ServerClockStoreContract;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract kit on a cluster of three primaries. Each store gets the address of one primary. */
@Tag("long")
final class RedisClusterStoreTest extends ServerClockStoreContract {
  /**
   * Number of stores that the test opens. If calls waited for connections, each store would hang with a probability of
   * one half.
   */
  private static final int STORES = 12;

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
  protected void setFull(boolean isFull) {
    cluster.nodes().forEach(
        node -> assertThat(node.command("CONFIG", "SET", "maxmemory", isFull ? "1mb" : "0")).isEqualTo("OK"));
  }

  @Override
  protected TaskStore open() {
    String uri = cluster.nodes().get(stores % 3).uri();
    options = RedisOptions.builder(uri).namespace("kit-" + stores++).slots(16).build();
    return RedisStore.open(options);
  }

  @Override
  protected TaskStore reopen(TaskStore old) {
    old.close();
    return RedisStore.open(options);
  }

  /**
   * A call that reads one server after another continues on the thread that received the previous answer. The same few
   * threads open the connections, so a thread that waited for a connection could wait for itself.
   */
  @Test
  void aCallToAllServersInTurnDoesNotBlockForConnections() {
    for (int i = 0; i < STORES; i++) {
      try (TaskStore fresh = open()) {
        assertThat(fresh.live(10, null)).succeedsWithin(Duration.ofSeconds(30));
      }
    }
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
