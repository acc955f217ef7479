package io.foliot.kill;

import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import org.junit.jupiter.api.Tag;

/**
 * Three servers over one MariaDB, through which they also coordinate. To choose the number of rounds and the seed:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=MariaDbClusterFaultsTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
@Tag("long")
class MariaDbClusterFaultsTest extends ClusterFaults {
  @Override
  Shared start() {
    MariaDbServer server = MariaDbServer.start();
    Database database = server.createDatabase();
    return new Shared(server, way -> StoreChoice.database(database.through(way)));
  }

  @Override
  String runName() {
    return "mariadb-cluster";
  }
}
