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

/** Faults of databases. Each subclass names one database. */
abstract class DatabaseFaults extends StoreFaults {
  /** Least duration of an outage. It exceeds the wait of calls for a connection, so some calls get no connection. */
  private static final int MIN_OUTAGE_MILLIS = 6_000;
  private static final int MAX_OUTAGE_MILLIS = 7_000;
  private static final int HOLD_MILLIS = 3_000;
  private static final int MAX_TERMINATIONS = 6;
  private static final int MAX_TERMINATION_PAUSE_MILLIS = 200;
  private static final int ROWS = 200;

  abstract FaultyDatabase start();

  @BeforeAll
  void breakAgainAndAgain() throws IOException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    try (FaultyDatabase faulty = start(); TcpProxy proxy = TcpProxy.to(faulty.server())) {
      StoreChoice store = StoreChoice.database(faulty.database().through(proxy));
      String name = getClass().getSimpleName().replace("FaultsTest", "").toLowerCase(Locale.ROOT);
      try (FaultRun run = new FaultRun(name, seed, store, SERVERS)) {
        for (int round = 0; round < Math.max(1, ROUNDS); round++) {
          endure(run, faults(faulty, proxy, run, random), random);
          run.endure(killed(faulty, random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
        }
        faulty.atLast(proxy).forEach(run::endure);
        judge(run);
      }
    }
  }

  private static List<InjectedFault> faults(FaultyDatabase faulty, TcpProxy proxy, FaultRun run,
      SplittableRandom random) {
    List<InjectedFault> faults = new ArrayList<>();
    new TreeMap<>(faulty.commits()).forEach((what, statement) -> faults.add(cut(proxy, what, statement)));
    faults.add(terminated(faulty, random.nextInt(1, MAX_TERMINATIONS), random.nextInt(MAX_TERMINATION_PAUSE_MILLIS)));
    faults.add(held(faulty, "a table is locked", faulty.lockTable("foliot_task")));
    faults.add(held(faulty, "rows are locked", "SELECT id FROM foliot_task LIMIT " + ROWS + " FOR UPDATE"));
    faults.add(withoutWrites(faulty));
    faults.add(blackHole(proxy));
    if (ROUNDS > 0) {
      // This fault takes long, because a Foliot server gives up a statement and its connection only after 20 s.
      faults.add(InjectedFault.silence(proxy));
    }
    faults.add(InjectedFault.serverKilled(run.rig.servers.getLast()));
    faults.add(InjectedFault.serverFrozen(run.rig.servers.getLast(), FROZEN_MILLIS));
    Collections.shuffle(faults, new Random(random.nextLong()));
    return faults;
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
    return new InjectedFault("the database refuses writes", Event.Fault.OTHER, InjectedFault.Effect.OUTAGE, () -> {
      faulty.readOnly(true);
      Await.pause(HOLD_MILLIS);
    }, () -> faulty.readOnly(false));
  }

  @Test
  void someOutcomesAreUnknown() {
    assertThat(result().verdict().counts().unknown()).isPositive();
  }
}
