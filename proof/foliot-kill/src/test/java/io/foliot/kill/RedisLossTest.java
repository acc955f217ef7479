package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.RedisServer;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import io.foliot.history.Reply;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two servers over one Redis that loses acknowledged writes. A failover loses at most the writes of a window, whose
 * length the server states. A restart without the file loses all writes. To choose the number of faults and the seed:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=RedisLossTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
@Tag("long")
class RedisLossTest {
  private static final int ROUNDS = Math.max(1, Integer.getInteger("faults", 0));
  private static final int SERVERS = 2;
  private static final int MIN_PAUSE_MILLIS = 2_000;
  private static final int MAX_PAUSE_MILLIS = 4_000;
  private static final int MAX_OUTAGE_MILLIS = 3_000;
  private static final int MAX_LAG_SECONDS = 2;

  /**
   * Longest time for which the primary has no replica. The primary refuses writes once it has missed the replica for
   * {@link #MAX_LAG_SECONDS}.
   */
  private static final int MAX_ALONE_MILLIS = 6_000;
  private static final Duration BOUND = Duration.ofSeconds(60);

  /**
   * More attempts than this must begin after the last loss. Attempts shortly before a loss are excused, and a short run
   * may have hardly any other attempts.
   */
  private static final int ENOUGH = 100;
  private static final Pattern WINDOW = Pattern.compile("\"windowMillis\":(\\d+)");

  /** A primary, and a replica that is connected to it through a proxy. */
  private record Pair(RedisServer primary, TcpProxy between, RedisServer replica) {
    static Pair of(RedisServer primary) {
      TcpProxy between = TcpProxy.to(primary);
      RedisServer replica = RedisServer.start(Map.of("replicaof", "127.0.0.1 " + between.port()));
      Await.until("the replica follows", BOUND,
          () -> replica.info("replication").contains("master_link_status:up")
              && primary.info("replication").contains("state=online"));
      set(primary, 1);
      Await.until("the replica counts", BOUND,
          () -> primary.info("replication").contains("min_slaves_good_slaves:1"));
      return new Pair(primary, between, replica);
    }

    /** Makes a server accept writes only with at least this number of connected replicas. */
    static void set(RedisServer server, int replicas) {
      server.command("CONFIG", "SET", "min-replicas-max-lag", Integer.toString(MAX_LAG_SECONDS));
      server.command("CONFIG", "SET", "min-replicas-to-write", Integer.toString(replicas));
    }

    /**
     * Cuts the replica off silently. The primary accepts writes until it has missed the replica for
     * {@code MAX_LAG_SECONDS}.
     */
    void cutOff() {
      between.blackHole();
    }

    /** Kills the primary and promotes the replica; the writes that only the primary has are lost. */
    void failOver(TcpProxy proxy) {
      primary.close();
      replica.promote();
      proxy.leadTo(replica);
      proxy.cut();
      between.close();
    }
  }

  @Test
  void aPromotedReplicaLacksNoMoreThanTheStatedWindow() throws IOException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    Pair[] pair = {Pair.of(RedisServer.start())};
    try (TcpProxy proxy = TcpProxy.to(pair[0].primary);
        FaultRun run = new FaultRun("redis-failover", seed, StoreChoice.redis(proxy), SERVERS)) {
      long windowMillis = window(run);
      run.rig.say("stated window " + windowMillis + " ms");
      for (int round = 0; round < ROUNDS; round++) {
        Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
        int aloneMillis = random.nextInt(MAX_ALONE_MILLIS);
        run.endure(
            new InjectedFault("a replica takes over after a cut of " + aloneMillis + " ms", Event.Fault.KILL,
                InjectedFault.Effect.HITCH, () -> {
                  pair[0].cutOff();
                  Await.pause(aloneMillis);
                }, () -> {
                  pair[0].failOver(proxy);
                  forget(run, windowMillis);
                }));
        pair[0] = Pair.of(pair[0].replica);
      }
      judge(run);
    } finally {
      pair[0].replica.close();
      pair[0].between.close();
      pair[0].primary.close();
    }
  }

  private static long window(FaultRun run) {
    Matcher found = WINDOW.matcher(run.rig.server.get("/v1/cluster"));
    assertThat(found.find()).isTrue();
    return Long.parseLong(found.group(1));
  }

  /** Records that writes acknowledged within {@code windowMillis} before the latest acknowledgement may be lost. */
  private static void forget(FaultRun run, long windowMillis) {
    long now = System.currentTimeMillis();
    long lastMillis = run.rig.history.events().stream().filter(RedisLossTest::isAck).mapToLong(Event::atMillis).max()
        .orElse(now);
    run.rig.say("the last ack came " + (now - lastMillis) + " ms before the failover");
    run.rig.history.forgot(now, lastMillis - windowMillis);
  }

  /**
   * Returns whether an answer proves that Redis has acknowledged a write of its call. The answers REPEATED and KEPT do
   * not prove this.
   */
  private static boolean isAck(Event event) {
    return event instanceof Event.Answered answered && switch (answered.reply()) {
      case Reply.Placed placed -> placed.result() != Reply.Result.REPEATED && placed.result() != Reply.Result.KEPT;
      case Reply.Cancelled cancelled -> cancelled.result() == Reply.CancelResult.CANCELLED;
      default -> false;
    };
  }

  @Test
  void serversContinueWithARedisThatLostItsFile() throws IOException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    try (RedisServer redis = RedisServer.start();
        TcpProxy proxy = TcpProxy.to(redis);
        FaultRun run = new FaultRun("redis-empty", seed, StoreChoice.redis(proxy), SERVERS)) {
      for (int round = 0; round < ROUNDS; round++) {
        Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
        int outageMillis = random.nextInt(MAX_OUTAGE_MILLIS);
        run.endure(new InjectedFault("Redis has lost its file", Event.Fault.KILL, InjectedFault.Effect.HITCH, () -> {
          redis.kill();
          run.rig.history.forgot(System.currentTimeMillis(), 0);
          Await.pause(outageMillis);
          redis.restartEmpty();
        }, () -> {
          run.rig.servers.forEach(ServerProcess::awaitReady);
          // The queues are lost as well. Applications put their queues when they start.
          run.rig.putQueues();
        }));
      }
      judge(run);
    }
  }

  private static void judge(FaultRun run) {
    long begun = run.rig.receiver.begun();
    Await.until("enough attempts begin after the last loss", BOUND, () -> run.rig.receiver.begun() - begun > ENOUGH);
    Rig.Result result = run.rig.judge();
    List<FaultRun.Recovery> recoveries = new ArrayList<>(run.recoveries());
    recoveries.forEach(recovery -> run.rig.say(recovery.toString()));
    assertThat(result.verdict().violations()).isEmpty();
    assertThat(result.verdict().counts().open()).isZero();
    assertThat(result.forgotten()).isEmpty();
    assertThat(run.mistakes()).isEmpty();
    assertThat(result.verdict().counts().excused()).isPositive();
    assertThat(result.verdict().counts().delivered()).isGreaterThan(20L * ROUNDS);
  }
}
