package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.servers.RedisServer;
import io.foliot.servers.TcpProxy;
import io.foliot.sim.history.Event;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Two servers over one Redis that keeps its file, to which everything happens. All of it as often as wanted, and with the
 * seed of an earlier run:
 * {@code mvn verify -pl foliot-kill -am -Dtest=RedisFaultsTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 * Without {@code faults}, some of it, drawn anew each time.
 */
class RedisFaultsTest {
  private static final int ROUNDS = Integer.getInteger("faults", 0);

  /** Drawn in a build, beside the kill of Redis. */
  private static final int DRAWN = 2;
  private static final int SERVERS = 2;
  private static final int MIN_PAUSE_MILLIS = 200;
  private static final int MAX_PAUSE_MILLIS = 1_500;
  private static final int MIN_OUTAGE_MILLIS = 1_500;
  private static final int MAX_OUTAGE_MILLIS = 4_000;

  /** Longer than a lease, so that somebody else takes over what it has claimed. */
  private static final int FROZEN_MILLIS = 7_000;

  /** Longer than servers wait for an answer of the store. */
  private static final int HOLE_MILLIS = 9_000;
  private static final Duration REPLY_BOUND = Duration.ofSeconds(30);

  private static Rig.@Nullable Result result;
  private static List<Siege.Recovery> recoveries = List.of();
  private static List<Event> mistakes = List.of();

  @BeforeAll
  static void breakAgainAndAgain() throws IOException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    String appendfsync = random.nextBoolean() ? "always" : "everysec";
    try (RedisServer redis = RedisServer.start(Map.of("appendfsync", appendfsync));
        TcpProxy proxy = TcpProxy.to(redis);
        Siege siege = new Siege("redis", seed, StoreChoice.redis(proxy.port()), SERVERS)) {
      siege.rig.say("appendfsync " + appendfsync);
      for (int round = 0; round < Math.max(1, ROUNDS); round++) {
        List<Trouble> troubles = troubles(redis, proxy, siege, random);
        for (Trouble trouble : ROUNDS == 0 ? troubles.subList(0, DRAWN) : troubles) {
          Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
          siege.endure(trouble);
        }
        siege.endure(killed(redis, random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
      }
      result = siege.rig.judge();
      recoveries = siege.recoveries();
      recoveries.forEach(recovery -> siege.rig.say(recovery.toString()));
      mistakes = siege.mistakes();
    }
  }

  private static List<Trouble> troubles(RedisServer redis, TcpProxy proxy, Siege siege, SplittableRandom random) {
    List<Trouble> troubles = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      troubles.add(cut(proxy));
    }
    troubles.add(refused(proxy, random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
    troubles.add(blackHole(proxy));
    troubles.add(Trouble.silence(proxy));
    troubles.add(asReplica(redis, random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
    troubles.add(Trouble.serverKilled(siege.rig.servers.getLast()));
    troubles.add(Trouble.serverFrozen(siege.rig.servers.getLast(), FROZEN_MILLIS));
    Collections.shuffle(troubles, new Random(random.nextLong()));
    return troubles;
  }

  /** What it has answered is in its file, which the kernel keeps where only the process dies. */
  private static Trouble killed(RedisServer redis, int outageMillis) {
    return new Trouble("Redis is killed", Event.Fault.KILL, Trouble.Effect.OUTAGE, () -> {
      redis.kill();
      Await.pause(outageMillis);
    }, redis::restart);
  }

  private static Trouble cut(TcpProxy proxy) {
    return Trouble.hitch("the reply to a step is cut off", Event.Fault.OTHER, () -> {
      int before = proxy.swallowedReplies();
      proxy.cutBeforeReplyTo(request -> new String(request, StandardCharsets.ISO_8859_1).contains("EVALSHA"));
      Await.until("a reply is swallowed", REPLY_BOUND, () -> proxy.swallowedReplies() > before);
    });
  }

  private static Trouble refused(TcpProxy proxy, int outageMillis) {
    return new Trouble("connections are refused", Event.Fault.OTHER, Trouble.Effect.OUTAGE, () -> {
      proxy.refuse();
      proxy.cut();
      Await.pause(outageMillis);
    }, proxy::heal);
  }

  private static Trouble blackHole(TcpProxy proxy) {
    return new Trouble("a black hole", Event.Fault.PAUSE, Trouble.Effect.OUTAGE, () -> {
      proxy.blackHole();
      Await.pause(HOLE_MILLIS);
    }, proxy::heal);
  }

  /** It answers questions, and refuses to write. */
  private static Trouble asReplica(RedisServer redis, int outageMillis) {
    return new Trouble("Redis is a replica of nobody", Event.Fault.OTHER, Trouble.Effect.OUTAGE, () -> {
      redis.command("REPLICAOF", "127.0.0.1", "1");
      Await.pause(outageMillis);
    }, redis::promote);
  }

  private static Rig.Result result() {
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
        .allSatisfy(recovery -> assertThat(recovery.refused() + recovery.unknown()).as(recovery.toString())
            .isPositive());
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
    assertThat(result().verdict().counts().excused()).isZero();
  }
}
