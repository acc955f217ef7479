package io.foliot.kill;

import io.foliot.backends.Await;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three servers that share one PostgreSQL and coordinate through ZooKeeper. Further faults stop and restart ZooKeeper,
 * and cut it off from all servers. To choose the number of rounds and the seed:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=ZooKeeperClusterFaultsTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
@Tag("long")
class ZooKeeperClusterFaultsTest extends ClusterFaults {
  private static final int TICK_MILLIS = 500;
  private static final long AWAY_MILLIS = 6_000;

  @TempDir
  private static Path folder = Path.of("");

  private @Nullable TestingServer zooKeeper;
  private @Nullable TcpProxy entrance;

  /** Starts a ZooKeeper that permits the short sessions of our servers. */
  static TestingServer zooKeeper(Path data) {
    try {
      return new TestingServer(new InstanceSpec(data.toFile(), -1, -1, -1, false, -1, TICK_MILLIS, -1), true);
    } catch (Exception e) {
      throw new AssertionError("ZooKeeper does not start", e);
    }
  }

  @Override
  Shared start() {
    zooKeeper = zooKeeper(folder);
    entrance = TcpProxy.to(zooKeeper.getPort());
    Shared postgres = Shared.postgres();
    String cluster = "zookeeper://127.0.0.1:" + entrance.port();
    return new Shared(postgres.server(), way -> postgres.ways().apply(way).with("--cluster", cluster));
  }

  @Override
  String runName() {
    return "zookeeper-cluster";
  }

  @Override
  List<InjectedFault> more() {
    TestingServer server = Objects.requireNonNull(zooKeeper);
    TcpProxy proxy = Objects.requireNonNull(entrance);
    return List.of(
        new InjectedFault("ZooKeeper is unavailable, and comes back", Event.Fault.OTHER, InjectedFault.Effect.HITCH,
            () -> {
              stop(server);
              Await.pause(AWAY_MILLIS);
            }, () -> restart(server)),
        new InjectedFault("ZooKeeper is cut off from all servers", Event.Fault.OTHER, InjectedFault.Effect.HITCH,
            () -> {
              proxy.blackHole();
              Await.pause(AWAY_MILLIS);
            }, proxy::heal));
  }

  private static void stop(TestingServer server) {
    try {
      server.stop();
    } catch (IOException e) {
      throw new AssertionError("ZooKeeper does not stop", e);
    }
  }

  private static void restart(TestingServer server) {
    try {
      server.restart();
    } catch (Exception e) {
      throw new AssertionError("ZooKeeper does not start again", e);
    }
  }

  @AfterAll
  void endZooKeeper() throws IOException {
    Objects.requireNonNull(entrance).close();
    Objects.requireNonNull(zooKeeper).close();
  }
}
