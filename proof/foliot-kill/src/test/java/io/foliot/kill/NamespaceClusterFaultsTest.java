package io.foliot.kill;

import static org.junit.jupiter.api.Assertions.assertAll;

import io.foliot.backends.Await;
import io.foliot.backends.Server;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three servers over one PostgreSQL, each server in a network namespace of its own. Cables are pulled, packets of one
 * direction vanish, and packets are late. The servers coordinate through the store or through ZooKeeper. A build draws
 * one of these two at random, and {@code -Dfaults=n} runs both in turn. To choose the number of rounds and the seed:
 * {@code mvn verify -Pmachine -pl :foliot-kill -am -Dtest=NamespaceClusterFaultsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
@Tag("machine")
class NamespaceClusterFaultsTest {
  @TempDir
  private Path folder = Path.of("");

  @Test
  void serversWhoseNetworkFailsKeepAllPromises() throws IOException, NodeNetwork.UnavailableException {
    boolean drawn = new SplittableRandom(Rig.seed()).nextBoolean();
    for (boolean zooKeeper : StoreFaults.ROUNDS == 0 ? List.of(drawn) : List.of(false, true)) {
      try (NodeNetwork network = NodeNetwork.create(ClusterFaults.NODES)) {
        if (zooKeeper) {
          withZooKeeper(network);
        } else {
          endure(new Faults(network, "namespaces", List.of()));
        }
      }
    }
  }

  private void withZooKeeper(NodeNetwork network) throws IOException {
    try (TestingServer server = ZooKeeperClusterFaultsTest.zooKeeper(folder);
        TcpProxy entrance = TcpProxy.to(server.getPort(), address(network, NodeNetwork.Role.COORDINATOR))) {
      endure(new Faults(network, "namespaces-zookeeper",
          List.of("--cluster", "zookeeper://" + entrance.host() + ":" + entrance.port())));
    }
  }

  private static void endure(Faults faults) throws IOException {
    faults.breakAgainAndAgain();
    assertAll(faults::allPromisesAreKept, faults::noTaskThatWasAckedIsForgotten, faults::noAnswerIsExcused,
        faults::duplicatesComeOnlyAroundAFault, faults::failedCallsReportUnavailableOrUnknownOutcome,
        faults::serversAreNotReadyWhileNothingCanBeWritten, faults::enoughWasDelivered);
  }

  private static InetAddress address(NodeNetwork network, NodeNetwork.Role role) {
    try {
      return InetAddress.getByName(network.host(role));
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  /** Faults of the network, and the conditions that must hold afterwards. */
  private static final class Faults extends ClusterFaults {
    private static final int MIN_BROKEN_MILLIS = 6_000;
    private static final int MAX_BROKEN_MILLIS = 8_000;

    /** Longest time that a server waits for an answer of the database before it gives up the connection. */
    private static final long SILENT_MILLIS = 20_000;

    /** Duration of a long fault: longer than {@link #SILENT_MILLIS}. */
    private static final long LONG_MILLIS = 45_000;

    /** Settings of a narrow link: a fifth of the rate at which a server sends under this load, and a short queue. */
    private static final String[] NARROW = {"rate", "256kbit", "burst", "3000", "limit", "9000"};

    /** Settings of a link that delays and loses packets. */
    private static final String[] LOSSY = {"delay", "50ms", "20ms", "loss", "10%"};

    private final NodeNetwork network;
    private final String name;
    private final List<String> coordination;
    private final String apiKey = UUID.randomUUID().toString();

    /**
     * Creates the faults.
     *
     * @param coordination the options for coordination; empty for coordination through the store
     */
    Faults(NodeNetwork network, String name, List<String> coordination) {
      this.network = network;
      this.name = name;
      this.coordination = coordination;
    }

    @Override
    Shared start() {
      return Shared.postgres();
    }

    @Override
    String runName() {
      return name;
    }

    @Override
    ServerHost place(int node) {
      List<String> options = new ArrayList<>(coordination);
      options.addAll(List.of("--allow-network", network.range(), "--admin-key-hash", sha256(apiKey)));
      return new ServerHost(network.host(node), network.host(NodeNetwork.Role.RECEIVER), network.launcher(node),
          options,
          apiKey);
    }

    private static String sha256(String text) {
      try {
        return HexFormat.of()
            .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
      } catch (NoSuchAlgorithmException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    TcpProxy way(Server store) {
      return TcpProxy.to(store.port(), address(network, NodeNetwork.Role.STORE));
    }

    @Override
    List<InjectedFault> faults(FaultRun run, List<TcpProxy> ways, SplittableRandom random) {
      int first = random.nextInt(NODES);
      int second = (first + 1) % NODES;
      long millis = random.nextInt(MIN_BROKEN_MILLIS, MAX_BROKEN_MILLIS);
      List<InjectedFault> faults = new ArrayList<>(List.of(unplugged(List.of(first), millis),
          unplugged(List.of(first, second), millis), loseFrom(List.of(first), NodeNetwork.Role.STORE, millis),
          loseFrom(IntStream.range(0, NODES).boxed().toList(), NodeNetwork.Role.STORE, HOLE_MILLIS),
          loseFrom(List.of(second), NodeNetwork.Role.RECEIVER, millis), loseTo(first, millis),
          lost(run.rig.servers.get(second), ways.get(second), second, millis)));
      if (!coordination.isEmpty()) {
        faults.add(loseFrom(List.of(first), NodeNetwork.Role.COORDINATOR, millis));
      }
      if (ROUNDS > 0) {
        faults.add(unplugged(List.of(second), LONG_MILLIS));
        faults.add(loseFrom(List.of(first), NodeNetwork.Role.STORE, LONG_MILLIS));
      }
      addShaped(faults, run, second, millis);
      return faults;
    }

    private void addShaped(List<InjectedFault> faults, FaultRun run, int node, long millis) {
      if (network.can(NodeNetwork.NARROW, NARROW)) {
        faults.add(shaped("the link of one server is narrow", node, NodeNetwork.NARROW, NARROW, millis));
      } else {
        run.rig.say("not run here: a narrow link: the kernel has no " + NodeNetwork.NARROW);
      }
      if (network.can(NodeNetwork.LOSSY, LOSSY)) {
        faults.add(shaped("the link of one server delays and loses packets", node, NodeNetwork.LOSSY, LOSSY, millis));
      } else {
        run.rig.say("not run here: a link that delays and loses packets: the kernel has no " + NodeNetwork.LOSSY);
      }
    }

    private static String duration(long millis) {
      return millis == LONG_MILLIS ? ", for long" : "";
    }

    private InjectedFault unplugged(List<Integer> nodes, long millis) {
      return new InjectedFault("the cables of " + nodes.size() + " of our servers are pulled" + duration(millis),
          Event.Fault.PAUSE, InjectedFault.Effect.SERVER_GONE, () -> {
            nodes.forEach(network::unplug);
            Await.pause(millis);
          }, () -> nodes.forEach(network::plug), retransmissionMillis(millis));
    }

    /**
     * Returns how long a connection may stay silent after the network works again. The pause between two
     * retransmissions of TCP doubles. So the silence lasts at most as long as the network was broken, and at most
     * {@link #SILENT_MILLIS}, because a server then gives up the connection. Until then, a call may block the calls
     * behind it, and leases may end.
     */
    private static long retransmissionMillis(long brokenMillis) {
      return Math.min(brokenMillis, SILENT_MILLIS);
    }

    /**
     * Returns a fault in which all packets from some nodes to an address vanish. Packets from the address still arrive.
     */
    private InjectedFault loseFrom(List<Integer> nodes, NodeNetwork.Role to, long millis) {
      InjectedFault.Effect effect = nodes.size() == NODES ? InjectedFault.Effect.OUTAGE : InjectedFault.Effect.HITCH;
      return new InjectedFault(
          "packets of " + nodes.size() + " of our servers to the " + to.name().toLowerCase(Locale.ROOT)
              + " vanish" + duration(millis),
          Event.Fault.PAUSE, effect, () -> {
            nodes.forEach(node -> network.loseFrom(node, to));
            Await.pause(millis);
          }, () -> nodes.forEach(node -> network.restoreFrom(node, to)),
          to == NodeNetwork.Role.STORE ? retransmissionMillis(millis) : 0);
    }

    /** Returns a fault in which all packets to a node vanish. Packets from the node still arrive. */
    private InjectedFault loseTo(int node, long millis) {
      return new InjectedFault("packets to one of our servers vanish", Event.Fault.PAUSE,
          InjectedFault.Effect.SERVER_GONE,
          () -> {
            network.loseTo(node);
            Await.pause(millis);
          }, () -> network.restoreTo(node), retransmissionMillis(millis));
    }

    /** Returns the loss of one of our servers with its machine, without notice to peers. A new server replaces it. */
    private InjectedFault lost(ServerProcess server, TcpProxy way, int node, long millis) {
      return new InjectedFault("one of our servers is lost with its machine", Event.Fault.KILL,
          InjectedFault.Effect.SERVER_GONE,
          () -> {
            network.unplug(node);
            server.kill();
            Await.pause(millis);
          }, () -> {
            // Without this cut, the proxy would keep the connections of the lost server to the database open.
            way.cut();
            network.replace(node);
            server.start();
            server.awaitReady();
          });
    }

    private InjectedFault shaped(String what, int node, String discipline, String[] settings, long millis) {
      return new InjectedFault(what, Event.Fault.OTHER, InjectedFault.Effect.SERVER_GONE, () -> {
        network.shape(node, discipline, settings);
        Await.pause(millis);
      }, () -> network.straighten(node));
    }
  }
}
