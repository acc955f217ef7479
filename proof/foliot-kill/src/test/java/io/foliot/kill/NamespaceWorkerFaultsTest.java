package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.RedisServer;
import io.foliot.backends.TcpProxy;
import io.foliot.kill.ClusterFaults.Shared;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Workers of jobs in two zones, and two servers. Each zone is a network namespace, which one cable connects to the
 * servers. All workers of a zone are cut off for longer than their leases. To choose the number of cuts, the store, the
 * coordination and the seed:
 * {@code mvn verify -Pmachine -pl :foliot-kill -am -Dtest=NamespaceWorkerFaultsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dcuts=20 -Dstore=postgresql -Dcoordination=zookeeper -Dseed=1} (the store is
 * {@code postgresql} or {@code redis}, the coordination {@code store} or {@code zookeeper}).
 */
@Tag("machine")
class NamespaceWorkerFaultsTest {
  private static final int CUTS = Integer.getInteger("cuts", 2);
  private static final int MIN_PAUSE_MILLIS = 1_000;
  private static final int MAX_PAUSE_MILLIS = 4_000;
  private static final int MIN_CUT_MILLIS = 5_000;
  /** Longest cut. A server drops a worker that has not called for 4 s, and every cut exceeds this time. */
  private static final int MAX_CUT_MILLIS = 16_000;
  private static final int IDLE_MILLIS = 5_000;
  private static final int CHECK_MILLIS = 20;

  @TempDir
  private Path folder = Path.of("");

  @Test
  void workersOfACutOffZoneNoticeTheirLostLeases() throws IOException, NodeNetwork.UnavailableException {
    boolean isRedis = "redis".equals(System.getProperty("store"));
    try (NodeNetwork network = NodeNetwork.create(WorkerRig.ZONES.size());
        Shared store = isRedis
            ? new Shared(RedisServer.start(Map.of("appendfsync", "always")), StoreChoice::redis)
            : Shared.postgres()) {
      if ("zookeeper".equals(System.getProperty("coordination"))) {
        try (TestingServer server = ZooKeeperClusterFaultsTest.zooKeeper(folder)) {
          cut(network, store, List.of("--cluster", "zookeeper://127.0.0.1:" + server.getPort()));
        }
      } else {
        cut(network, store, List.of());
      }
    }
  }

  private static void cut(NodeNetwork network, Shared store, List<String> coordination) throws IOException {
    long seed = Rig.seed();
    long begunNanos = System.nanoTime();
    String apiKey = UUID.randomUUID().toString();
    List<String> options = new ArrayList<>(coordination);
    options.addAll(List.of("--admin-key-hash", sha256(apiKey)));
    String host = network.host(NodeNetwork.Role.CLIENTS);
    try (TcpProxy first = TcpProxy.to(store.server());
        TcpProxy second = TcpProxy.to(store.server());
        WorkerRig rig = new WorkerRig("cut-off-zones", seed,
            List.of(store.ways().apply(first), store.ways().apply(second)),
            new ServerHost(host, host, List.of(), options, apiKey),
            Map.of(WorkerRig.ZONES.get(0), network.launcher(0), WorkerRig.ZONES.get(1), network.launcher(1)))) {
      SplittableRandom random = new SplittableRandom(seed);
      for (int cut = 1; cut <= CUTS; cut++) {
        Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
        cut(network, rig, random);
      }
      ShardHistory history = rig.end();
      ShardJudge.Verdict verdict = WorkerKills.judged(rig, history, begunNanos);
      assertThat(verdict.broken()).isEmpty();
      assertThat(verdict.lost()).as("number of attempts that lost their leases").isPositive();
      for (TamperedShards how : TamperedShards.values()) {
        assertThat(ShardJudge.judge(how.of(history)).broken()).as(how.name()).containsKey(how.demand());
      }
    }
  }

  /**
   * Cuts a zone off: by its cable, or by packets that vanish in one direction. First waits, for at most
   * {@link #IDLE_MILLIS}, until a worker of the zone is busy.
   */
  private static void cut(NodeNetwork network, WorkerRig rig, SplittableRandom random) {
    int node = random.nextInt(WorkerRig.ZONES.size());
    String zone = WorkerRig.ZONES.get(node);
    long millis = random.nextInt(MIN_CUT_MILLIS, MAX_CUT_MILLIS);
    for (int waited = 0; waited < IDLE_MILLIS && !isBusy(rig, zone); waited += CHECK_MILLIS) {
      Await.pause(CHECK_MILLIS);
    }
    switch (random.nextInt(3)) {
      case 0 -> {
        rig.say("the cable of " + zone + " is pulled for " + millis + " ms");
        network.unplug(node);
        Await.pause(millis);
        network.plug(node);
      }
      case 1 -> {
        rig.say("packets from " + zone + " vanish for " + millis + " ms");
        network.loseFrom(node, NodeNetwork.Role.CLIENTS);
        Await.pause(millis);
        network.restoreFrom(node, NodeNetwork.Role.CLIENTS);
      }
      default -> {
        rig.say("packets to " + zone + " vanish for " + millis + " ms");
        network.loseTo(node);
        Await.pause(millis);
        network.restoreTo(node);
      }
    }
  }

  private static boolean isBusy(WorkerRig rig, String zone) {
    return rig.workers.stream().filter(worker -> worker.zone().equals(zone))
        .anyMatch(worker -> worker.content().isBusy());
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
