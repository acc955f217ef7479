package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.DocumentKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Checks that a queue's limits hold for all nodes together. */
final class ClusterLimitsTest {
  private static final QueueConfig QUEUE = QueueConfig.of("q", Target.local());
  /** Length of an attempt's lease: the timeout plus 20 s. */
  private static final long LEASE_MILLIS = QUEUE.target().timeout().toMillis() + 20_000;

  private final Cluster cluster = new Cluster();
  private final List<HeldAttempt> held = new ArrayList<>();

  private record HeldAttempt(String node, CompletableFuture<Answer> answer) {
    void end() {
      answer.complete(new Answer.Done(""));
    }
  }

  /** Makes each attempt last until the test ends it. */
  private void holdAttempts() {
    cluster.behaviour = attempt -> {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      held.add(new HeldAttempt(cluster.fired.getLast().node(), answer));
      return answer;
    };
  }

  /** Ends the given number of the oldest held attempts, or all if there are fewer. */
  private void end(int attempts) {
    for (int i = 0; i < attempts && !held.isEmpty(); i++) {
      held.removeFirst().end();
    }
  }

  private void endOf(String node) {
    List<HeldAttempt> ended = held.stream().filter(each -> each.node.equals(node)).toList();
    held.removeAll(ended);
    ended.forEach(HeldAttempt::end);
  }

  private int runningOf(String node) {
    return (int) held.stream().filter(each -> each.node.equals(node)).count();
  }

  @Test
  void concurrencyOneIsOneOnAllNodesTogether() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    Cluster.Node c = cluster.node("c");
    a.putQueue(QUEUE.toBuilder().concurrency(1).build());
    cluster.advance(Duration.ofSeconds(3));
    holdAttempts();
    a.submit(0, 20, Duration.ZERO);
    b.submit(20, 40, Duration.ZERO);
    c.submit(40, 60, Duration.ZERO);
    for (int i = 0; i < 6_000 && cluster.fired.size() < 60; i++) {
      cluster.advance(Duration.ofMillis(10));
      end(1);
    }
    cluster.ensureEachOnce(60);
    assertThat(cluster.mostRunning).isEqualTo(1);
    assertThat(cluster.firedBy).as("each node had the permit").hasSize(3);
  }

  @Test
  void aLimitIsUsedToTheFullWhereverTheTasksAre() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    a.putQueue(QUEUE.toBuilder().concurrency(10).build());
    cluster.advance(Duration.ofSeconds(3));
    holdAttempts();
    a.submit(0, 5, Duration.ZERO);
    b.submit(5, 200, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(3));
    assertThat(cluster.running).isEqualTo(10);
    for (int i = 0; i < 2_000 && cluster.fired.size() < 200; i++) {
      end(2);
      cluster.advance(Duration.ofMillis(20));
    }
    cluster.ensureEachOnce(200);
    assertThat(cluster.mostRunning).isEqualTo(10);
  }

  @Test
  void permitsOfADeadNodeAreFreedAfterItsLeases() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    a.putQueue(QUEUE.toBuilder().concurrency(4).build());
    cluster.advance(Duration.ofSeconds(3));
    holdAttempts();
    a.submit(0, 2_000, Duration.ZERO);
    b.submit(2_000, 4_000, Duration.ZERO);
    for (int i = 0; i < 100; i++) {
      cluster.advance(Duration.ofMillis(50));
      end(4);
    }
    cluster.advance(Duration.ofMillis(200));
    assertThat(cluster.running).isEqualTo(4);
    int runningOfB = cluster.running - runningOf("a");
    assertThat(runningOfB).isEqualTo(2);
    b.die();
    for (int millis = 0; millis < LEASE_MILLIS - 1_000; millis += 200) {
      endOf("a");
      cluster.advance(Duration.ofMillis(200));
      assertThat(cluster.running).as("including attempts of the dead node").isLessThanOrEqualTo(4);
    }
    for (int millis = 0; millis < 20_000; millis += 200) {
      endOf("a");
      cluster.advance(Duration.ofMillis(200));
    }
    assertThat(runningOf("a")).isEqualTo(4);
  }

  @Test
  void aSuspendedNodeClaimsNothingUnderPermitsOfOthers() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    // No attempt of this test reaches this timeout, so no timeout frees a permit.
    Target patient = new Target(QUEUE.target().type(), QUEUE.target().settings(), Duration.ofSeconds(60));
    a.putQueue(QueueConfig.builder(QUEUE.name(), patient).concurrency(1).build());
    cluster.advance(Duration.ofSeconds(3));
    a.submit(0, 1, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(1));
    assertThat(cluster.fired).hasSize(1);
    String holder = cluster.fired.getFirst().node();
    Cluster.Node paused = holder.equals("a") ? a : b;
    Cluster.Node other = holder.equals("a") ? b : a;
    holdAttempts();
    paused.pause();
    other.submit(1, 40, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(30));
    assertThat(cluster.running).isEqualTo(1);
    paused.resume();
    for (int i = 0; i < 10_000 && cluster.fired.size() < 40; i++) {
      cluster.advance(Duration.ofMillis(10));
      if (i % 10 == 9) {
        end(1);
      }
    }
    cluster.ensureEachOnce(40);
    assertThat(cluster.mostRunning).isEqualTo(1);
  }

  @Test
  void aRateHoldsForAllNodesTogether() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    a.putQueue(QUEUE.toBuilder().rate(100.0).build());
    cluster.advance(Duration.ofSeconds(3));
    a.submit(0, 2_000, Duration.ZERO);
    b.submit(2_000, 4_000, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(5));
    int before = cluster.fired.size();
    cluster.advance(Duration.ofSeconds(20));
    assertThat(cluster.fired.size() - before).isBetween(1_800, 2_020);
    assertThat(cluster.firedBy).hasSize(2);
  }

  @Test
  void aNodeThatLeavesGivesItsPermitsBack() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    a.putQueue(QUEUE.toBuilder().concurrency(4).build());
    cluster.advance(Duration.ofSeconds(3));
    a.submit(0, 100, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(1));
    cluster.ensureEachOnce(100);
    CompletableFuture<Void> stopped = b.engine.stop(Duration.ofSeconds(10));
    cluster.advance(Duration.ofSeconds(2));
    assertThat(stopped).isCompleted();
    holdAttempts();
    a.submit(100, 110, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(3));
    assertThat(cluster.running).isEqualTo(4);
  }

  @Test
  void thePermitsOfAnIdleQueueAreNotWritten() {
    Cluster.Node a = cluster.node("a");
    a.putQueue(QUEUE.toBuilder().rate(10.0).concurrency(4).build());
    a.submit(0, 3, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(20));
    cluster.ensureEachOnce(3);
    long before = cluster.remote.permitWrites;
    cluster.advance(Duration.ofMinutes(5));
    assertThat(cluster.remote.permitWrites).isEqualTo(before);
    a.submit(3, 4, Duration.ZERO);
    cluster.advance(Duration.ofMillis(200));
    cluster.ensureEachOnce(4);
  }

  @Test
  void thePermitRecordOfAnUnlimitedQueueIsDeleted() {
    Cluster.Node a = cluster.node("a");
    a.putQueue(QUEUE.toBuilder().concurrency(4).build());
    a.putQueue(QueueConfig.builder("other", Target.local()).concurrency(4).build());
    holdAttempts();
    a.submit(0, 1, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(1));
    assertThat(cluster.store.documents(DocumentKind.PERMITS).toCompletableFuture().join()).hasSize(1);
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(20));
    assertThat(cluster.store.documents(DocumentKind.PERMITS).toCompletableFuture().join()).isEmpty();
  }

  @Test
  void aResumedProcessDoesNotRetryUnderExpiredPermits() {
    Cluster.Node a = cluster.node("a");
    a.putQueue(QUEUE.toBuilder().concurrency(2).build());
    cluster.advance(Duration.ofSeconds(3));
    holdAttempts();
    a.submit(0, 10, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(1));
    assertThat(cluster.running).isEqualTo(2);
    cluster.remote.slow = true;
    a.sleep(Duration.ofSeconds(10));
    long before = cluster.remote.claimItems;
    end(2);
    for (int i = 0; i < 20; i++) {
      cluster.advance(Duration.ofMillis(1));
      cluster.remote.releaseAnswers();
    }
    assertThat(cluster.remote.claimItems - before).as("one refused claim per permit").isEqualTo(2);
    cluster.remote.slow = false;
    cluster.advance(Duration.ofSeconds(1));
    assertThat(cluster.running).isEqualTo(2);
  }
}
