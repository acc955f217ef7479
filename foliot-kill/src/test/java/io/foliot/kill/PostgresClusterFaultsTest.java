package io.foliot.kill;

import io.foliot.servers.Server;

/**
 * Three servers over one PostgreSQL, which they also coordinate through. As often as wanted, and with the seed of an earlier run:
 * {@code mvn verify -pl foliot-kill -am -Dtest=PostgresClusterFaultsTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
class PostgresClusterFaultsTest extends ClusterFaults {
  @Override
  Shared start() {
    return new OverDatabase(new FaultyPostgres());
  }

  @Override
  String runName() {
    return "postgres-cluster";
  }

  /** The part of a database that a cluster needs. */
  record OverDatabase(FaultyDatabase faulty) implements Shared {
    @Override
    public Server server() {
      return faulty.server();
    }

    @Override
    public StoreChoice at(int port) {
      return StoreChoice.database(faulty.database().at(port));
    }

    @Override
    public void kill() {
      faulty.kill();
    }

    @Override
    public void restart() {
      faulty.restart();
    }

    @Override
    public void close() {
      faulty.close();
    }
  }
}
