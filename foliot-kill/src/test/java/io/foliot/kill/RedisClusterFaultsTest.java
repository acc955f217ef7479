package io.foliot.kill;

import io.foliot.servers.RedisServer;
import io.foliot.servers.Server;
import java.util.Map;

/**
 * Three servers over one Redis that keeps its file, which they also coordinate through. As often as wanted, and with the seed of
 * an earlier run:
 * {@code mvn verify -pl foliot-kill -am -Dtest=RedisClusterFaultsTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
class RedisClusterFaultsTest extends ClusterFaults {
  @Override
  Shared start() {
    return new OverRedis(RedisServer.start(Map.of("appendfsync", "always")));
  }

  @Override
  String runName() {
    return "redis-cluster";
  }

  private record OverRedis(RedisServer redis) implements Shared {
    @Override
    public Server server() {
      return redis;
    }

    @Override
    public StoreChoice at(int port) {
      return StoreChoice.redis(port);
    }

    @Override
    public void kill() {
      redis.kill();
    }

    @Override
    public void restart() {
      redis.restart();
    }

    @Override
    public void close() {
      redis.close();
    }
  }
}
