package io.foliot.store.redis;

import io.foliot.core.store.Durability;
import io.foliot.core.store.StoreException;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a server that determine which acknowledged writes it may lose.
 *
 * @param info the server's INFO
 * @param config the settings that CONFIG GET returned; empty if the user may not read them
 */
record ServerFacts(Map<String, String> info, Map<String, String> config) {
  /**
   * Window of writes that a crash may lose with {@code appendfsync everysec}. Redis documents one second, and permits
   * another second for a slow sync.
   */
  private static final long EVERYSEC_MILLIS = 2_000;
  /** Window of writes that a crash may lose if Redis does not sync: Linux writes dirty pages back after 30 s. */
  private static final long KERNEL_MILLIS = 30_000;
  private static final long MILLIS_PER_SECOND = 1_000;
  /**
   * Seconds added to the permitted lag of a replica. Redis measures the lag in whole seconds, checks it once a second,
   * and may check late.
   */
  private static final long LAG_SLACK_SECONDS = 3;
  /** Window of a server that may lose writes of any age. */
  static final long UNBOUNDED = Long.MAX_VALUE;

  /** Returns the INFO of the server; in a cluster, of any server. Blocks. */
  static Map<String, String> info(Link link) {
    try {
      return lines(link.serverCommand(CommandType.INFO).join());
    } catch (CompletionException e) {
      throw Link.failure(e);
    }
  }

  /** Reads the INFO of a server, and those of its settings that the user may read. */
  static CompletableFuture<ServerFacts> read(Link link) {
    Link.Pipeline pipeline = link.pipeline();
    CompletableFuture<List<Object>> info = pipeline.serverCommand(CommandType.INFO);
    CompletableFuture<Map<String, String>> config = CompletableFuture.completedFuture(new HashMap<>());
    for (String name : List.of("appendfsync", "save", "min-replicas-to-write", "min-replicas-max-lag")) {
      // One command per name, because not every version accepts several names. The user may lack the permission for
      // CONFIG.
      CompletableFuture<List<Object>> setting = pipeline.serverCommand(CommandType.CONFIG, "GET", name);
      config = config.thenCombine(setting.exceptionally(forbidden -> List.of()), (all, found) -> {
        if (found.size() == 2) {
          all.put(name, new String((byte[]) found.get(1), StandardCharsets.UTF_8));
        }
        return all;
      });
    }
    pipeline.send();
    return info.thenCombine(config, (reply, settings) -> new ServerFacts(lines(reply), settings));
  }

  private static Map<String, String> lines(List<Object> reply) {
    Map<String, String> values = new HashMap<>();
    for (String line : new String((byte[]) reply.getFirst(), StandardCharsets.UTF_8).split("\r\n", -1)) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        values.put(line.substring(0, colon), line.substring(colon + 1));
      }
    }
    return values;
  }

  /** Throws {@link StoreException} if the server, when it is full, evicts keys that have no expiry. */
  void ensureNothingIsEvicted() {
    String policy = info.getOrDefault("maxmemory_policy", "noeviction");
    if (policy.startsWith("allkeys")) {
      throw new StoreException("the server evicts keys, so tasks would be lost; set maxmemory-policy to noeviction:"
          + " maxmemory-policy=" + policy, null);
    }
  }

  /** Returns the first number of the server's version. */
  int version() {
    String digits = info.getOrDefault("redis_version", "6").split("\\D", 2)[0];
    return digits.isEmpty() ? 0 : Integer.parseInt(digits);
  }

  private @Nullable Long number(String name) {
    String value = config.get(name);
    return value == null || !value.matches("\\d{1,9}") ? null : Long.valueOf(value);
  }

  /** Returns the length of the window before a crash, in ms. A restart from files may lose the window's writes. */
  private long fileMillis() {
    if (!"1".equals(info.get("aof_enabled"))) {
      return UNBOUNDED;
    }
    return switch (config.getOrDefault("appendfsync", "unknown")) {
      case "always" -> 0;
      case "everysec" -> EVERYSEC_MILLIS;
      default -> KERNEL_MILLIS;
    };
  }

  /** Returns the length of the window before a failover, in ms. The new primary may lack the window's writes. */
  private long replicaMillis(int waitReplicas) {
    Long least = number("min-replicas-to-write");
    Long lagSeconds = number("min-replicas-max-lag");
    if (waitReplicas > 0) {
      return 0;
    }
    // Redis checks neither setting if one of them is 0.
    return least != null && least > 0 && lagSeconds != null && lagSeconds > 0
        ? (lagSeconds + LAG_SLACK_SECONDS) * MILLIS_PER_SECOND
        : UNBOUNDED;
  }

  /**
   * Returns the durability class, and the window of acknowledged writes that a failure may lose.
   *
   * @param waitReplicas the number of replicas that must have each write before it is acknowledged
   * @param failsOver whether replicas are promoted automatically
   */
  Durability durability(int waitReplicas, boolean failsOver) {
    boolean replicated = failsOver || !"0".equals(info.getOrDefault("connected_slaves", "0"));
    long window = Math.max(fileMillis(), replicated ? replicaMillis(waitReplicas) : 0);
    String detail = "Redis " + info.getOrDefault("redis_version", "?") + ", appendonly="
        + ("1".equals(info.get("aof_enabled")) ? "yes" : "no") + ", appendfsync="
        + config.getOrDefault("appendfsync", "unknown (CONFIG is not permitted)") + ", replicas="
        + info.getOrDefault("connected_slaves", "?") + ", min-replicas-to-write="
        + config.getOrDefault("min-replicas-to-write", "unknown") + ", waits for replicas=" + waitReplicas
        + (window == UNBOUNDED ? "; the time span of possible loss is not bounded" : "");
    return new Durability("B", window, detail);
  }
}
