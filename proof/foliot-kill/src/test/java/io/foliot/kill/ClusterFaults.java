package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.Server;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Three servers share the slots of one store, each server through a proxy of its own. The faults of a round kill,
 * pause, replace, cut off and slow down servers. Each round ends with a kill of the store, which is then restarted.
 */
abstract class ClusterFaults extends StoreFaults {
  static final int NODES = 3;

  /** Number of kills after the last round, each of one random server. */
  private static final int KILLS = Integer.getInteger("cluster.kills", 0);
  private static final int MIN_PAUSE_MILLIS = 300;
  private static final int MAX_PAUSE_MILLIS = 2_000;
  private static final int MIN_OUTAGE_MILLIS = 6_000;
  private static final int MAX_OUTAGE_MILLIS = 7_000;

  /** Time for which a killed server is absent. It is longer than a member lease, and longer than an attempt. */
  private static final long MISSING_MILLIS = 6_000;
  private static final long CUT_OFF_MILLIS = 6_000;
  private static final long SLOW_MILLIS = 4_000;
  private static final Duration SLOW = Duration.ofMillis(100);

  /**
   * The store that all servers share.
   *
   * @param server the server of the store
   * @param ways the options by which one of our servers reaches the store through a given proxy
   */
  record Shared(Server server, Function<TcpProxy, StoreChoice> ways) implements AutoCloseable {
    static Shared postgres() {
      PostgresServer server = PostgresServer.start();
      Database database = server.createDatabase();
      return new Shared(server, way -> StoreChoice.database(database.through(way)));
    }

    @Override
    public void close() {
      server.close();
    }
  }

  abstract Shared start();

  /** Returns the name of a run. The names of its files begin with this name. */
  abstract String runName();

  /** Returns the host of one of our servers. */
  ServerHost place(int node) {
    return ServerHost.LOOPBACK;
  }

  /** Starts a proxy through which one of our servers reaches the store. */
  TcpProxy way(Server store) {
    return TcpProxy.to(store);
  }

  /** Returns the faults that a subclass adds to {@link #faults}. */
  List<InjectedFault> more() {
    return List.of();
  }

  @BeforeAll
  void breakAgainAndAgain() throws IOException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    List<TcpProxy> ways = new ArrayList<>();
    try (Shared store = start()) {
      for (int i = 0; i < NODES; i++) {
        ways.add(way(store.server()));
      }
      try (FaultRun run = new FaultRun(runName(), seed, ways.stream().map(store.ways()).toList(),
          IntStream.range(0, NODES).mapToObj(this::place).toList())) {
        for (int round = 0; round < Math.max(1, ROUNDS); round++) {
          List<InjectedFault> faults = faults(run, ways, random);
          faults.addAll(more());
          Collections.shuffle(faults, new Random(random.nextLong()));
          endure(run, faults, random);
          run.endure(killed(store.server(), random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
        }
        for (int kill = 0; kill < KILLS; kill++) {
          Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
          run.endure(InjectedFault.serverKilled(run.rig.servers.get(random.nextInt(NODES))));
        }
        judge(run);
      }
    } finally {
      ways.forEach(TcpProxy::close);
    }
  }

  /** Returns the faults of one round, in any order; the list is modifiable. */
  List<InjectedFault> faults(FaultRun run, List<TcpProxy> ways, SplittableRandom random) {
    int first = random.nextInt(NODES);
    int second = (first + 1) % NODES;
    List<ServerProcess> servers = run.rig.servers;
    return new ArrayList<>(List.of(
        InjectedFault.serverMissing(servers.get(first), MISSING_MILLIS),
        InjectedFault.serverFrozen(servers.get(first), FROZEN_MILLIS),
        InjectedFault.serverReplaced(servers.get(second)),
        InjectedFault.cutOff(List.of(ways.get(first)), CUT_OFF_MILLIS),
        InjectedFault.cutOff(List.of(ways.get(first), ways.get(second)), CUT_OFF_MILLIS),
        InjectedFault.slow(ways.get(second), SLOW, SLOW_MILLIS)));
  }

  private static InjectedFault killed(Server store, int outageMillis) {
    return new InjectedFault("the store is killed", Event.Fault.KILL, InjectedFault.Effect.OUTAGE, () -> {
      store.kill();
      Await.pause(outageMillis);
    }, store::restart);
  }

  @Test
  void noAnswerIsExcused() {
    assertThat(result().verdict().counts().excused()).isZero();
  }
}
