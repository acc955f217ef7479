package io.foliot.kill;

import io.foliot.backends.RedisServer;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/**
 * Three servers over one Redis that keeps its file, which they also coordinate through. As often as wanted, and with
 * the seed of an earlier run:
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
