package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.servers.TcpProxy;
import io.foliot.sim.history.Event;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * What happens to databases, under load; a subclass for each database says which. With {@code -Dfaults=n} all of it n times;
 * without, some of it, drawn anew each time, for a build should not take long.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DatabaseFaults {
  private static final int ROUNDS = Integer.getInteger("faults", 0);

  /** Drawn in a build, beside the kill of the database. */
  private static final int DRAWN = 2;
  private static final int SERVERS = 2;
  private static final int MIN_PAUSE_MILLIS = 200;
  private static final int MAX_PAUSE_MILLIS = 1_500;

  /** Longer than calls wait for a connection, so that some are told that there is none. */
  private static final int MIN_OUTAGE_MILLIS = 6_000;
  private static final int MAX_OUTAGE_MILLIS = 7_000;
  private static final int HOLD_MILLIS = 3_000;
  private static final int MAX_TERMINATIONS = 6;

  /** Longer than a lease, so that somebody else takes over what it has claimed. */
  private static final int FROZEN_MILLIS = 7_000;

  /** Longer than servers wait for an answer of the store. */
  private static final int HOLE_MILLIS = 9_000;
  private static final int ROWS = 200;
  private static final Duration REPLY_BOUND = Duration.ofSeconds(30);

  private Rig.@Nullable Result result;
  private List<Siege.Recovery> recoveries = List.of();
  private List<Event> mistakes = List.of();

  /** Starts the database. */
  abstract FaultyDatabase start();

  @BeforeAll
  void breakAgainAndAgain() throws IOException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    try (FaultyDatabase faulty = start(); TcpProxy proxy = TcpProxy.to(faulty.server())) {
      StoreChoice store = StoreChoice.database(faulty.database().at(proxy.port()));
      String name = getClass().getSimpleName().replace("FaultsTest", "").toLowerCase(Locale.ROOT);
      try (Siege siege = new Siege(name, seed, store, SERVERS)) {
        for (int round = 0; round < Math.max(1, ROUNDS); round++) {
          List<Trouble> troubles = troubles(faulty, proxy, siege, random);
          for (Trouble trouble : ROUNDS == 0 ? troubles.subList(0, DRAWN) : troubles) {
            Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
            siege.endure(trouble);
          }
          siege.endure(killed(faulty, random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
        }
        faulty.atLast(proxy).forEach(siege::endure);
        result = siege.rig.judge();
        recoveries = siege.recoveries();
        recoveries.forEach(recovery -> siege.rig.say(recovery.toString()));
        mistakes = siege.mistakes();
      }
    }
  }

  private static List<Trouble> troubles(FaultyDatabase faulty, TcpProxy proxy, Siege siege, SplittableRandom random) {
    List<Trouble> troubles = new ArrayList<>();
    new TreeMap<>(faulty.commits()).forEach((what, statement) -> troubles.add(cut(proxy, what, statement)));
    troubles.add(terminated(faulty, random.nextInt(1, MAX_TERMINATIONS), random.nextInt(MIN_PAUSE_MILLIS)));
    troubles.add(held(faulty, "a table is locked", faulty.lockTable("foliot_task")));
    troubles.add(held(faulty, "rows are locked", "SELECT id FROM foliot_task LIMIT " + ROWS + " FOR UPDATE"));
    troubles.add(withoutWrites(faulty));
    troubles.add(blackHole(proxy));
    if (ROUNDS > 0) {
      // It takes more than half a minute until statements are given up.
      troubles.add(Trouble.silence(proxy));
    }
    troubles.add(Trouble.serverKilled(siege.rig.servers.getLast()));
    troubles.add(Trouble.serverFrozen(siege.rig.servers.getLast(), FROZEN_MILLIS));
    Collections.shuffle(troubles, new Random(random.nextLong()));
    return troubles;
  }

  private static Trouble killed(FaultyDatabase faulty, int outageMillis) {
    return new Trouble("the database is killed", Event.Fault.KILL, Trouble.Effect.OUTAGE, () -> {
      faulty.server().kill();
      Await.pause(outageMillis);
    }, faulty.server()::restart);
  }

  private static Trouble terminated(FaultyDatabase faulty, int times, int pauseMillis) {
    return Trouble.hitch("all sessions are ended, " + times + " times", Event.Fault.OTHER, () -> {
      for (int i = 0; i < times; i++) {
        faulty.endSessions();
        Await.pause(pauseMillis);
      }
    });
  }

  private static Trouble held(FaultyDatabase faulty, String what, String statement) {
    return Trouble.hitch(what, Event.Fault.PAUSE, () -> faulty.hold(statement, HOLD_MILLIS));
  }

  private static Trouble withoutWrites(FaultyDatabase faulty) {
    return new Trouble("the database takes no writes", Event.Fault.OTHER, Trouble.Effect.OUTAGE, () -> {
      faulty.readOnly(true);
      Await.pause(HOLD_MILLIS);
    }, () -> faulty.readOnly(false));
  }

  private static Trouble blackHole(TcpProxy proxy) {
    return new Trouble("a black hole", Event.Fault.PAUSE, Trouble.Effect.OUTAGE, () -> {
      proxy.blackHole();
      Await.pause(HOLE_MILLIS);
    }, proxy::heal);
  }

  private static Trouble cut(TcpProxy proxy, String what, Predicate<String> statement) {
    return Trouble.hitch("the reply to " + what + " is cut off after the commit", Event.Fault.OTHER, () -> {
      int before = proxy.swallowedReplies();
      proxy.cutBeforeReplyTo(request -> statement.test(new String(request, StandardCharsets.ISO_8859_1)));
      Await.until("a reply to " + what + " is swallowed", REPLY_BOUND, () -> proxy.swallowedReplies() > before);
    });
  }

  private Rig.Result result() {
    return Objects.requireNonNull(result);
  }

  @Test
  void allPromisesAreKept() {
    assertThat(result().verdict().violations()).isEmpty();
    assertThat(result().verdict().ok()).isTrue();
    assertThat(result().verdict().counts().open()).isZero();
    assertThat(result().verdict().counts().lost()).isZero();
  }

  @Test
  void noTaskThatWasAckedIsForgotten() {
    assertThat(result().forgotten()).isEmpty();
  }

  @Test
  void duplicatesComeOnlyAroundAFault() {
    assertThat(result().verdict().counts().duplicatesOutsideFaults()).isZero();
  }

  @Test
  void callersAreToldThatTheStoreIsAwayOrThatTheOutcomeIsUnknown() {
    assertThat(mistakes).isEmpty();
    assertThat(recoveries).filteredOn(Siege.Recovery::isOutage)
        .allSatisfy(
            recovery -> assertThat(recovery.refused() + recovery.unknown()).as(recovery.toString()).isPositive());
    assertThat(recoveries.stream().mapToLong(Siege.Recovery::refused).sum()).isPositive();
  }

  @Test
  void serversAreNotReadyWhileNothingCanBeWritten() {
    assertThat(recoveries).filteredOn(Siege.Recovery::isOutage)
        .allSatisfy(recovery -> assertThat(recovery.wasDown()).as(recovery.toString()).isTrue());
  }

  @Test
  void theRunHasMetWhatItIsFor() {
    assertThat(result().verdict().counts().delivered()).isGreaterThan(100L * Math.max(1, ROUNDS));
    assertThat(result().verdict().counts().unknown()).isPositive();
  }
}
