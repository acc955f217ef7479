package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Faults of databases; a subclass for each of them. */
abstract class DatabaseFaults extends StoreFaults {
  /** Longer than calls wait for a connection, so that some fail without one. */
  private static final int MIN_OUTAGE_MILLIS = 6_000;
  private static final int MAX_OUTAGE_MILLIS = 7_000;
  private static final int HOLD_MILLIS = 3_000;
  private static final int MAX_TERMINATIONS = 6;
  private static final int MAX_TERMINATION_PAUSE_MILLIS = 200;
  private static final int ROWS = 200;

  /** Starts the database. */
  abstract FaultyDatabase start();

  @BeforeAll
  void breakAgainAndAgain() throws IOException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    try (FaultyDatabase faulty = start(); TcpProxy proxy = TcpProxy.to(faulty.server())) {
      StoreChoice store = StoreChoice.database(faulty.database().through(proxy));
      String name = getClass().getSimpleName().replace("FaultsTest", "").toLowerCase(Locale.ROOT);
      try (FaultRun siege = new FaultRun(name, seed, store, SERVERS)) {
        for (int round = 0; round < Math.max(1, ROUNDS); round++) {
          endure(siege, troubles(faulty, proxy, siege, random), random);
          siege.endure(killed(faulty, random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
        }
        faulty.atLast(proxy).forEach(siege::endure);
        judge(siege);
      }
    }
  }

  private static List<InjectedFault> troubles(FaultyDatabase faulty, TcpProxy proxy, FaultRun siege,
      SplittableRandom random) {
    List<InjectedFault> troubles = new ArrayList<>();
    new TreeMap<>(faulty.commits()).forEach((what, statement) -> troubles.add(cut(proxy, what, statement)));
    troubles.add(terminated(faulty, random.nextInt(1, MAX_TERMINATIONS), random.nextInt(MAX_TERMINATION_PAUSE_MILLIS)));
    troubles.add(held(faulty, "a table is locked", faulty.lockTable("foliot_task")));
    troubles.add(held(faulty, "rows are locked", "SELECT id FROM foliot_task LIMIT " + ROWS + " FOR UPDATE"));
    troubles.add(withoutWrites(faulty));
    troubles.add(blackHole(proxy));
    if (ROUNDS > 0) {
      // It takes twenty seconds until statements are given up, and their connections with them.
      troubles.add(InjectedFault.silence(proxy));
    }
    troubles.add(InjectedFault.serverKilled(siege.rig.servers.getLast()));
    troubles.add(InjectedFault.serverFrozen(siege.rig.servers.getLast(), FROZEN_MILLIS));
    Collections.shuffle(troubles, new Random(random.nextLong()));
    return troubles;
  }

  private static InjectedFault killed(FaultyDatabase faulty, int outageMillis) {
    return new InjectedFault("the database is killed", Event.Fault.KILL, InjectedFault.Effect.OUTAGE, () -> {
      faulty.server().kill();
      Await.pause(outageMillis);
    }, faulty.server()::restart);
  }

  private static InjectedFault terminated(FaultyDatabase faulty, int times, int pauseMillis) {
    return InjectedFault.hitch("all sessions are ended, " + times + " times", Event.Fault.OTHER, () -> {
      for (int i = 0; i < times; i++) {
        faulty.endSessions();
        Await.pause(pauseMillis);
      }
    });
  }

  private static InjectedFault held(FaultyDatabase faulty, String what, String statement) {
    return InjectedFault.hitch(what, Event.Fault.PAUSE, () -> faulty.hold(statement, HOLD_MILLIS));
  }

  private static InjectedFault withoutWrites(FaultyDatabase faulty) {
    return new InjectedFault("the database takes no writes", Event.Fault.OTHER, InjectedFault.Effect.OUTAGE, () -> {
      faulty.readOnly(true);
      Await.pause(HOLD_MILLIS);
    }, () -> faulty.readOnly(false));
  }

  @Test
  void someCallersWereLeftInDoubt() {
    assertThat(result().verdict().counts().unknown()).isPositive();
  }
}
