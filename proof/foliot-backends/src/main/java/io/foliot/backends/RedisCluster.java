package io.foliot.backends;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A Redis Cluster: primaries that share the hash slots among them, each with the same number of replicas. */
public final class RedisCluster implements AutoCloseable {
  /** Number of hash slots of every Redis Cluster. */
  private static final int SLOTS = 16_384;
  private static final Duration NODE_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration AGREED_BOUND = Duration.ofSeconds(60);

  private final int primaries;
  private final List<RedisServer> nodes = new ArrayList<>();

  private RedisCluster(int primaries, int replicasEach, Map<String, String> settings) {
    this.primaries = primaries;
    int count = primaries * (1 + replicasEach);
    List<Integer> busPorts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Map<String, String> all = new LinkedHashMap<>(settings);
      busPorts.add(ServerProcess.freePort());
      all.put("cluster-enabled", "yes");
      all.put("cluster-port", Integer.toString(busPorts.get(i)));
      all.put("cluster-node-timeout", Long.toString(NODE_TIMEOUT.toMillis()));
      nodes.add(RedisServer.start(all));
    }
    // Each node begins with a different epoch, as with redis-cli, so that no two nodes compete for the same epoch.
    for (int i = 0; i < count; i++) {
      nodes.get(i).command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
    }
    for (int i = 0; i < primaries; i++) {
      nodes.get(i).command("CLUSTER", "ADDSLOTSRANGE", Integer.toString(SLOTS * i / primaries),
          Integer.toString(SLOTS * (i + 1) / primaries - 1));
    }
    for (int i = 1; i < count; i++) {
      nodes.getFirst().command("CLUSTER", "MEET", "127.0.0.1", Integer.toString(nodes.get(i).port()),
          Integer.toString(busPorts.get(i)));
    }
    for (RedisServer node : nodes) {
      awaitInfo(node, "cluster_known_nodes:" + count);
    }
    for (int i = primaries; i < count; i++) {
      replicate(nodes.get(i), nodes.get(i % primaries));
    }
    awaitOk();
  }

  /**
   * Starts all nodes, and waits until each of them reports that the cluster is complete.
   *
   * @param primaries the number of primaries, at least three. With two, the failover of one would have no majority
   * @param replicasEach the number of replicas of each primary
   * @param settings the settings of each node, by their names in {@code redis.conf}
   */
  public static RedisCluster start(int primaries, int replicasEach, Map<String, String> settings) {
    if (primaries < 3 || replicasEach < 0) {
      throw new IllegalArgumentException("a cluster has at least three primaries: primaries=" + primaries
          + ", replicasEach=" + replicasEach);
    }
    return new RedisCluster(primaries, replicasEach, settings);
  }

  private static void replicate(RedisServer replica, RedisServer primary) {
    String id = Objects.toString(primary.command("CLUSTER", "MYID"));
    Await.until("a node is known to its replica", AGREED_BOUND,
        () -> Objects.toString(replica.command("CLUSTER", "NODES")).contains(id));
    replica.command("CLUSTER", "REPLICATE", id);
    replica.awaitFollowing();
  }

  private static void awaitInfo(RedisServer node, String line) {
    Await.until("a node reports " + line, AGREED_BOUND,
        () -> Objects.toString(node.command("CLUSTER", "INFO")).contains(line));
  }

  /** Waits until every live node reports that the cluster is complete. */
  public void awaitOk() {
    nodes.stream().filter(RedisServer::isAlive).forEach(node -> awaitInfo(node, "cluster_state:ok"));
  }

  /**
   * Returns all nodes: first the nodes that were primaries in the beginning, then a first replica of each of them, in
   * the same order, then a second replica of each, and so on.
   */
  public List<RedisServer> nodes() {
    return List.copyOf(nodes);
  }

  /** Returns the number of nodes that were primaries in the beginning, which are the first of {@link #nodes}. */
  public int primaryCount() {
    return primaries;
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
