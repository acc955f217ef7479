package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.store.StoreAwayException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests the log lines about an unavailable store, and about nodes that join and leave. */
final class StoreOutageTest {
  private final RecordedLog log = new RecordedLog();
  private final StoreOutage outage = new StoreOutage(2, log);
  private long nowNanos;

  /** Returns the store health of a new loop, after one successful call. */
  private StoreHealth loop() {
    StoreHealth health = new StoreHealth(new LoopRig().meter, nanos -> {}, outage, nowNanos);
    health.called("due", 1, nowNanos, null, nowNanos);
    return health;
  }

  @Test
  void anOutageThatAllLoopsReportHasTwoLines() {
    List<StoreHealth> loops = List.of(loop(), loop(), loop());
    for (int second = 0; second < 10; second++) {
      nowNanos = Duration.ofSeconds(second).toNanos();
      for (StoreHealth loop : loops) {
        loop.called("due", 1, nowNanos, new StoreAwayException("the database is unavailable", new IOException()),
            nowNanos);
        loop.called("claim", 1, nowNanos, new StoreAwayException("the database is unavailable", new IOException()),
            nowNanos);
        loop.writeFailed(false, nowNanos);
        loop.turn(nowNanos);
      }
    }
    nowNanos = Duration.ofMillis(9_800).toNanos();
    for (StoreHealth loop : loops) {
      loop.called("due", 1, nowNanos, null, nowNanos);
      loop.wrote();
      loop.turn(nowNanos);
      loop.turn(nowNanos);
    }
    assertThat(log.lines).containsExactly(
        "WARNING the store does not answer; trying again until it does: call=due, reason=the database is unavailable",
        "INFO the store answers again: awayFor=9.8 s");
  }

  @Test
  void theStoreIsAwayOnceItHasAnsweredNoLoopForSeconds() {
    StoreAwayException failure = new StoreAwayException("the database is unavailable", new IOException());
    StoreHealth first = loop();
    StoreHealth second = loop();
    first.called("due", 1, nowNanos, failure, nowNanos);
    nowNanos = StoreHealth.SILENCE_NANOS;
    assertThat(outage.isAway(nowNanos)).as("the other loop is served").isFalse();
    second.called("due", 1, nowNanos, failure, nowNanos);
    assertThat(outage.isAway(nowNanos + StoreHealth.SILENCE_NANOS - 1)).isFalse();
    assertThat(outage.isAway(nowNanos + StoreHealth.SILENCE_NANOS)).isTrue();
    nowNanos += StoreHealth.SILENCE_NANOS;
    first.writeFailed(false, nowNanos);
    first.called("due", 1, nowNanos, null, nowNanos);
    assertThat(outage.isAway(nowNanos)).as("a store that refuses writes answers").isFalse();
    first.called("due", 1, nowNanos, failure, nowNanos);
    assertThat(outage.isAway(nowNanos + StoreHealth.SILENCE_NANOS)).as("an outage begins anew").isTrue();
  }

  @Test
  void aFailedReadOfTheClockBeginsAnOutage() {
    StoreHealth loop = loop();
    loop.answered("time", new StoreAwayException("the database is unavailable", new IOException()), nowNanos);
    loop.called("due", 1, nowNanos, new StoreAwayException("the database is unavailable", new IOException()), nowNanos);
    nowNanos = Duration.ofSeconds(2).toNanos();
    loop.answered("time", null, nowNanos);
    loop.turn(nowNanos);
    assertThat(log.lines).containsExactly(
        "WARNING the store does not answer; trying again until it does: call=time, reason=the database is unavailable",
        "INFO the store answers again: awayFor=2 s");
  }

  @Test
  void aStoreThatReadsButDoesNotWriteIsOneOutage() {
    StoreHealth loop = loop();
    for (int i = 0; i < 100; i++) {
      nowNanos += Duration.ofMillis(50).toNanos();
      loop.called("settle", 1, nowNanos, new StoreAwayException("read only", new IOException()), nowNanos);
      loop.writeFailed(false, nowNanos);
      loop.called("due", 1, nowNanos, null, nowNanos);
      loop.turn(nowNanos);
    }
    assertThat(log.lines).hasSize(1);
  }

  @Test
  void anUnexpectedExceptionIsLoggedWithItsStackTrace() {
    loop().called("due", 1, nowNanos, new IllegalStateException("a bug"), nowNanos);
    assertThat(log.lines).hasSize(2).last().isEqualTo("(stack)");
  }

  @Test
  void eachNodeThatJoinsOrLeavesHasALine() {
    Membership.logChanges(log, "a", Set.of("a", "b", "c"), Set.of("a", "b", "c"));
    Membership.logChanges(log, "a", Set.of("a", "b"), Set.of("a"));
    Membership.logChanges(log, "a", Set.of("a"), Set.of("a", "b"));
    Membership.logChanges(log, "a", Set.of("a", "b"), Set.of("b"));
    assertThat(log.lines).containsExactly("WARNING a node is gone; the others take its slots: node=b, nodes=1",
        "INFO a node has joined: node=b, nodes=2");
  }
}
