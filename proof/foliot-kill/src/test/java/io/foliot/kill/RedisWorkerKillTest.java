package io.foliot.kill;

import io.foliot.backends.RedisServer;
import io.foliot.kill.ClusterFaults.Shared;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/**
 * Kills workers of jobs, and the servers that they poll. The servers share one Redis, which syncs each write, and
 * coordinate through it. To choose the number of kills and the seed:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=RedisWorkerKillTest -Dsurefire.failIfNoSpecifiedTests=false -Dworker.kills=100 -Dseed=1}.
 */
@Tag("long")
class RedisWorkerKillTest extends WorkerKills {
  @Override
  Shared start() {
    return new Shared(RedisServer.start(Map.of("appendfsync", "always")), StoreChoice::redis);
  }

  @Override
  String runName() {
    return "redis-workers";
  }
}
