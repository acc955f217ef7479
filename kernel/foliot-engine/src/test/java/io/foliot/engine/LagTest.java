package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests the lag of a queue, which every node reports: the time since its oldest waiting task became due. */
final class LagTest {
  private static final QueueConfig QUEUE = QueueConfig.of("q", Target.local());
  /** Maximum time that a node takes to know the lag, after its start or after a change of a queue. */
  private static final Duration SECONDS = Duration.ofSeconds(3);

  private final Cluster cluster = new Cluster();

  private Duration lag(Engine engine, String queue) {
    var statuses = engine.queues();
    cluster.advance(Duration.ZERO);
    return statuses.join().stream().filter(status -> status.queue().name().equals(queue)).findAny().orElseThrow().lag();
  }

  private static void ensureNear(Duration lag, Duration expected) {
    assertThat(lag).isBetween(expected.minusMillis(300), expected.plusMillis(300));
  }

  @Test
  void afterARestartTheLagOfAPausedQueueIsRightWithinSeconds() {
    Cluster.Node first = cluster.node("a");
    first.putQueue(QUEUE.toBuilder().paused(true).build());
    first.submit(0, 500, Duration.ofSeconds(1));
    first.submit(500, 1_000, Duration.ofSeconds(20));
    cluster.advance(Duration.ofSeconds(31));
    ensureNear(lag(first.engine, "q"), Duration.ofSeconds(30));
    first.die();
    cluster.advance(Duration.ofMinutes(30));
    Cluster.Node second = cluster.node("b");
    cluster.advance(SECONDS);
    Duration expected = Duration.ofMinutes(30).plusSeconds(33);
    ensureNear(lag(second.engine, "q"), expected);
    assertThat(second.engine.status().oldestDueMillis()).isBetween(expected.minusSeconds(1).toMillis(),
        expected.plusSeconds(1).toMillis());
    second.putQueue(QUEUE);
    cluster.advance(SECONDS);
    assertThat(lag(second.engine, "q")).isZero();
    assertThat(second.engine.status().oldestDueMillis()).isZero();
  }

  @Test
  void afterARestartTheLagOfAThrottledQueueIsRight() {
    Cluster.Node first = cluster.node("a");
    first.putQueue(QUEUE.toBuilder().rate(1.0).build());
    first.submit(0, 60, Duration.ofSeconds(1));
    cluster.advance(Duration.ofSeconds(6));
    first.die();
    cluster.advance(Duration.ofMinutes(10));
    Cluster.Node second = cluster.node("b");
    cluster.advance(Duration.ofSeconds(20));
    ensureNear(lag(second.engine, "q"), Duration.ofMinutes(10).plusSeconds(25));
  }

  @Test
  void allNodesReportTheSameLag() {
    Cluster.Node first = cluster.node("a");
    Cluster.Node second = cluster.node("b", new Cluster.Handlers());
    first.putQueue(QUEUE.toBuilder().paused(true).build());
    cluster.advance(Duration.ofSeconds(5));
    first.submit(0, 100, Duration.ofSeconds(1));
    cluster.advance(Duration.ofSeconds(61));
    ensureNear(lag(first.engine, "q"), Duration.ofMinutes(1));
    ensureNear(lag(second.engine, "q"), Duration.ofMinutes(1));
  }

  @Test
  void aQueueWithoutAHandlerHasALag() {
    Cluster.Node node = cluster.node("a", new Cluster.Handlers());
    node.putQueue(QUEUE);
    node.submit(0, 10, Duration.ofSeconds(1));
    cluster.advance(Duration.ofSeconds(61));
    ensureNear(lag(node.engine, "q"), Duration.ofMinutes(1));
  }

  @Test
  void lagsOfManyQueuesAreReportedWithinSeconds() {
    try (World world = new World()) {
      for (int i = 0; i < 1_000; i++) {
        world.queue(World.local("q" + i).toBuilder().paused(true).build());
        world.submit("q" + i, Duration.ZERO, "a");
      }
      world.advance(Duration.ofSeconds(5));
      assertThat(world.join(world.engine.queues())).extracting(Scheduler.QueueStatus::lag)
          .allMatch(lag -> lag.compareTo(Duration.ofSeconds(4)) >= 0);
    }
  }
}
