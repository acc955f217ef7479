package io.foliot.kill;

import org.junit.jupiter.api.Tag;

/**
 * Three servers over one PostgreSQL, which they also coordinate through. As often as wanted, and with the seed of an
 * earlier run:
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
