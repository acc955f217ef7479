package io.foliot.kill;

import org.junit.jupiter.api.Tag;

/**
 * Three servers over one PostgreSQL, through which they also coordinate. To choose the number of rounds and the seed:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=PostgresClusterFaultsTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
@Tag("long")
class PostgresClusterFaultsTest extends ClusterFaults {
  @Override
  Shared start() {
    return Shared.postgres();
  }

  @Override
  String runName() {
    return "postgres-cluster";
  }
}
