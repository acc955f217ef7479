package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.RedisServer;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two servers over one Redis, under many faults. No fault makes Redis lose its file. To choose the number of rounds and
 * the seed: {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=RedisFaultsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
@Tag("long")
class RedisFaultsTest extends StoreFaults {
  private static final int MIN_OUTAGE_MILLIS = 1_500;
  private static final int MAX_OUTAGE_MILLIS = 4_000;

  @BeforeAll
  void breakAgainAndAgain() throws IOException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    String appendfsync = random.nextBoolean() ? "always" : "everysec";
    try (RedisServer redis = RedisServer.start(Map.of("appendfsync", appendfsync));
        TcpProxy proxy = TcpProxy.to(redis);
        FaultRun run = new FaultRun("redis", seed, StoreChoice.redis(proxy), SERVERS)) {
      run.rig.say("appendfsync " + appendfsync);
      for (int round = 0; round < Math.max(1, ROUNDS); round++) {
        endure(run, faults(redis, proxy, run, random), random);
        run.endure(killed(redis, random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
      }
      judge(run);
    }
  }

  private static List<InjectedFault> faults(RedisServer redis, TcpProxy proxy, FaultRun run,
      SplittableRandom random) {
    List<InjectedFault> faults = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      faults.add(cut(proxy, "a script", request -> request.contains("EVALSHA")));
    }
    faults.add(refused(proxy, random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
    faults.add(blackHole(proxy));
    faults.add(InjectedFault.silence(proxy));
    faults.add(asReplica(redis, random.nextInt(MIN_OUTAGE_MILLIS, MAX_OUTAGE_MILLIS)));
    faults.add(InjectedFault.serverKilled(run.rig.servers.getLast()));
    faults.add(InjectedFault.serverFrozen(run.rig.servers.getLast(), FROZEN_MILLIS));
    Collections.shuffle(faults, new Random(random.nextLong()));
    return faults;
  }

  /** Returns a kill of Redis. The kernel keeps each write that Redis has made to its file. */
  private static InjectedFault killed(RedisServer redis, int outageMillis) {
    return new InjectedFault("Redis is killed", Event.Fault.KILL, InjectedFault.Effect.OUTAGE, () -> {
      redis.kill();
      Await.pause(outageMillis);
    }, redis::restart);
  }

  private static InjectedFault refused(TcpProxy proxy, int outageMillis) {
    return new InjectedFault("connections are refused", Event.Fault.OTHER, InjectedFault.Effect.OUTAGE, () -> {
      proxy.refuse();
      proxy.cut();
      Await.pause(outageMillis);
    }, proxy::heal);
  }

  /** Returns a fault in which Redis answers queries, but refuses writes. */
  private static InjectedFault asReplica(RedisServer redis, int outageMillis) {
    return new InjectedFault("Redis is a replica of an address that does not answer", Event.Fault.OTHER,
        InjectedFault.Effect.OUTAGE, () -> {
          redis.command("REPLICAOF", "127.0.0.1", "1");
          Await.pause(outageMillis);
        }, redis::promote);
  }

  @Test
  void noAnswerIsExcused() {
    assertThat(result().verdict().counts().excused()).isZero();
  }
}
