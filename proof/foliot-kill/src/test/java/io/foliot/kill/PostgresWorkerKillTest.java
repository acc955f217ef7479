package io.foliot.kill;

import io.foliot.kill.ClusterFaults.Shared;
import org.junit.jupiter.api.Tag;

/**
 * Kills workers of jobs, and the servers that they poll. The servers share one PostgreSQL, and coordinate through it.
 * To choose the number of kills and the seed:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=PostgresWorkerKillTest -Dsurefire.failIfNoSpecifiedTests=false -Dworker.kills=100 -Dseed=1}.
 */
@Tag("long")
class PostgresWorkerKillTest extends WorkerKills {
  @Override
  Shared start() {
    return Shared.postgres();
  }

  @Override
  String runName() {
    return "postgres-workers";
  }
}
