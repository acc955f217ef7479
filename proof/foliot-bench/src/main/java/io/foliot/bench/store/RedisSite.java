package io.foliot.bench.store;

import io.foliot.backends.RedisServer;
import io.foliot.core.store.TaskStore;
import io.foliot.store.redis.RedisOptions;
import io.foliot.store.redis.RedisStore;
import java.util.List;

/** A Redis server, which is empty at the beginning of each round. */
final class RedisSite implements Site {
  private static final List<String> SETTINGS = List.of("appendonly", "appendfsync", "io-threads");

  private final RedisServer server = RedisServer.start();

  /** Deletes all keys and returns the server. */
  RedisServer fresh() {
    server.command("FLUSHALL", "SYNC");
    return server;
  }

  @Override
  public TaskStore openStore() {
    return RedisStore.open(RedisOptions.at(fresh().uri()));
  }

  @Override
  public void settle() {}

  @Override
  public String describe() {
    StringBuilder text = new StringBuilder("Redis " + server.info("server").lines()
        .filter(line -> line.startsWith("redis_version:")).map(line -> line.substring(line.indexOf(':') + 1))
        .findFirst()
        .orElse("?"));
    for (String setting : SETTINGS) {
      text.append(", ").append(setting).append('=')
          .append(server.command("CONFIG", "GET", setting) instanceof List<?> pair && pair.size() == 2
              ? pair.get(1)
              : "?");
    }
    return text.toString();
  }

  @Override
  public void close() {
    server.close();
  }
}
