package io.foliot.backends;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A Redis server with one replica, and three sentinels. The sentinels fail over to the replica if two of them get no
 * response from the primary for a second.
 */
public final class RedisSentinels implements AutoCloseable {
  /** Name of the primary in the configuration of the sentinels. */
  public static final String PRIMARY_NAME = "foliot";

  private static final int SENTINELS = 3;
  private static final int QUORUM = 2;
  private static final Duration DOWN_AFTER = Duration.ofSeconds(1);
  private static final Duration FAILOVER_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration KNOWN_BOUND = Duration.ofSeconds(60);

  private final List<RedisServer> all = new ArrayList<>();

  private RedisSentinels(Map<String, String> settings) {
    RedisServer primary = RedisServer.start(settings);
    all.add(primary);
    all.add(primary.replica());
    for (int i = 0; i < SENTINELS; i++) {
      all.add(RedisServer.startSentinel(
          List.of("sentinel monitor " + PRIMARY_NAME + " 127.0.0.1 " + primary.port() + " " + QUORUM,
              "sentinel down-after-milliseconds " + PRIMARY_NAME + " " + DOWN_AFTER.toMillis(),
              "sentinel failover-timeout " + PRIMARY_NAME + " " + FAILOVER_TIMEOUT.toMillis())));
    }
    for (RedisServer sentinel : sentinels()) {
      Await.until("the sentinels know each other and the replica", KNOWN_BOUND, () -> {
        String known = sentinel.info("sentinel");
        return known.contains("slaves=1,sentinels=" + SENTINELS);
      });
    }
  }

  /**
   * Starts all servers and sentinels. Waits for each sentinel, at most a minute, until it knows the replica and the
   * other sentinels.
   *
   * @param settings the settings of the primary and its replica, by their names in {@code redis.conf}
   */
  public static RedisSentinels start(Map<String, String> settings) {
    return new RedisSentinels(settings);
  }

  /** Returns the server that was the primary in the beginning. */
  public RedisServer firstPrimary() {
    return all.get(0);
  }

  /** Returns the server that was the replica in the beginning. */
  public RedisServer firstReplica() {
    return all.get(1);
  }

  /** Returns the sentinels. */
  public List<RedisServer> sentinels() {
    return List.copyOf(all.subList(2, all.size()));
  }

  /**
   * Returns the port of the primary, as a live sentinel reports it.
   *
   * @throws IllegalStateException if no sentinel is live, or the sentinel does not know the primary
   */
  public int primaryPort() {
    RedisServer sentinel = sentinels().stream().filter(RedisServer::isAlive).findFirst()
        .orElseThrow(() -> new IllegalStateException("no sentinel is running: sentinels=" + SENTINELS));
    if (sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", PRIMARY_NAME) instanceof List<?> address) {
      return Integer.parseInt(String.valueOf(address.get(1)));
    }
    throw new IllegalStateException("a sentinel does not know the primary: name=" + PRIMARY_NAME);
  }

  /** Waits, at most a minute, until the sentinels have made a server the primary and the server has this role. */
  public void awaitPrimary(RedisServer server) {
    Await.until("the sentinels have failed over", KNOWN_BOUND,
        () -> primaryPort() == server.port() && server.info("replication").contains("role:master"));
  }

  @Override
  public void close() {
    all.reversed().forEach(RedisServer::close);
  }
}
