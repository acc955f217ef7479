package io.foliot.kill;

import io.foliot.backends.RedisServer;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/**
 * Three servers over one Redis that syncs each write, through which they also coordinate. To choose the number of
 * rounds and the seed:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=RedisClusterFaultsTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
@Tag("long")
class RedisClusterFaultsTest extends ClusterFaults {
  @Override
  Shared start() {
    return new Shared(RedisServer.start(Map.of("appendfsync", "always")), StoreChoice::redis);
  }

  @Override
  String runName() {
    return "redis-cluster";
  }
}
