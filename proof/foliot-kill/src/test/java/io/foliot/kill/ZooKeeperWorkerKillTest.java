package io.foliot.kill;

import io.foliot.kill.ClusterFaults.Shared;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills workers of jobs, and the servers that they poll. The servers share one PostgreSQL, and coordinate through
 * ZooKeeper. To choose the number of kills and the seed:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=ZooKeeperWorkerKillTest -Dsurefire.failIfNoSpecifiedTests=false -Dworker.kills=100 -Dseed=1}.
 */
@Tag("long")
class ZooKeeperWorkerKillTest extends WorkerKills {
  @TempDir
  private static Path folder = Path.of("");

  private @Nullable TestingServer zooKeeper;

  @Override
  Shared start() {
    zooKeeper = ZooKeeperClusterFaultsTest.zooKeeper(folder);
    Shared postgres = Shared.postgres();
    String cluster = "zookeeper://127.0.0.1:" + zooKeeper.getPort();
    return new Shared(postgres.server(), way -> postgres.ways().apply(way).with("--cluster", cluster));
  }

  @Override
  String runName() {
    return "zookeeper-workers";
  }

  @AfterAll
  void endZooKeeper() throws IOException {
    Objects.requireNonNull(zooKeeper).close();
  }
}
