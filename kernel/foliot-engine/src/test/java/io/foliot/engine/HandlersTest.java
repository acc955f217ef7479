package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.QueueCounts;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests nodes that have handlers for only some queues. */
final class HandlersTest {
  private static final QueueConfig QUEUE = QueueConfig.of("q", Target.local());
  private static final int TASKS = 200;
  /** Largest permitted lateness of a task that a node without the handler has parked. */
  private static final long LATE_MILLIS = 250;

  private final Cluster cluster = new Cluster();
  private final Cluster.Handlers handlersOfA = new Cluster.Handlers();
  private final Cluster.Handlers handlersOfB = new Cluster.Handlers();

  private QueueCounts counts() {
    return cluster.store.counts().toCompletableFuture().join().getOrDefault("q", QueueCounts.NONE);
  }

  private void ensureEachAtItsFirstAttempt(int tasks) {
    cluster.ensureEachOnce(tasks);
    assertThat(counts().finished()).isEqualTo(tasks);
    assertThat(cluster.store.query("q", TaskState.FINISHED, 1_000, null).toCompletableFuture().join().tasks())
        .allMatch(task -> task.attempt() == 1);
  }

  @Test
  void onlyTheNodeWithTheHandlerFiresTheTasks() {
    handlersOfB.add("q");
    Cluster.Node without = cluster.node("a", handlersOfA);
    cluster.node("b", handlersOfB);
    without.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(5));
    for (int i = 0; i < TASKS; i++) {
      without.submit(i, i + 1, Duration.ofSeconds(45).plusMillis(37L * i));
    }
    cluster.advance(Duration.ofSeconds(80));
    ensureEachAtItsFirstAttempt(TASKS);
    cluster.ensureLateBy(0, LATE_MILLIS);
    assertThat(cluster.firedBy.keySet()).containsExactly("b");
    // Node b claims the tasks that node a has parked, so no task is parked twice.
    assertThat(cluster.remote.parked).isLessThanOrEqualTo(TASKS);
  }

  @Test
  void tasksWaitUntouchedUntilTheirNodeHasAHandler() {
    Cluster.Node node = cluster.node("a", handlersOfA);
    node.putQueue(QUEUE);
    node.submit(0, TASKS, Duration.ofSeconds(1));
    cluster.advance(Duration.ofMinutes(10));
    assertThat(cluster.fired).isEmpty();
    assertThat(counts().parked()).isEqualTo(TASKS);
    assertThat(counts().delayed()).isEqualTo(TASKS);
    handlersOfA.add("q");
    long begunMillis = cluster.clock.wallMillis();
    cluster.advance(Duration.ofSeconds(1));
    ensureEachAtItsFirstAttempt(TASKS);
    assertThat(cluster.fired).allMatch(fired -> fired.atMillis() - begunMillis <= LATE_MILLIS);
  }

  @Test
  void aNodeClaimsNoTasksOnceItsHandlerIsRemoved() {
    handlersOfA.add("q");
    handlersOfB.add("q");
    Cluster.Node first = cluster.node("a", handlersOfA);
    cluster.node("b", handlersOfB);
    first.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(5));
    handlersOfA.remove("q");
    first.submit(0, TASKS, Duration.ofSeconds(45));
    cluster.advance(Duration.ofSeconds(60));
    ensureEachAtItsFirstAttempt(TASKS);
    assertThat(cluster.firedBy.keySet()).containsExactly("b");
  }

  @Test
  void aFailedAttemptIsRepeatedWhereTheHandlerIs() {
    handlersOfB.add("q");
    Cluster.Node without = cluster.node("a", handlersOfA);
    cluster.node("b", handlersOfB);
    without.putQueue(QUEUE);
    cluster.behaviour = attempt -> CompletableFuture.completedFuture(attempt.task().attempt() < 3
        ? new Answer.Retry(null, Answer.Health.WELL, "not yet")
        : new Answer.Done(""));
    cluster.advance(Duration.ofSeconds(5));
    without.submit(0, 20, Duration.ofSeconds(45));
    cluster.advance(Duration.ofMinutes(2));
    assertThat(counts().finished()).isEqualTo(20);
    assertThat(cluster.fired).hasSize(60);
    assertThat(cluster.firedBy.keySet()).containsExactly("b");
  }

  @Test
  void anAttemptThatIsNotAnsweredInTimeHasFailed() {
    try (World world = new World()) {
      world.queue(QueueConfig.of("q", new Target(Target.LOCAL, Map.of(), Duration.ofSeconds(1))));
      world.receiver.behaviour = attempt -> attempt.task().attempt() == 1
          ? new CompletableFuture<>()
          : CompletableFuture.completedFuture(new Answer.Done(""));
      TaskId id = world.submit("q", Duration.ZERO, "a").id();
      world.advance(Duration.ofMillis(1_100));
      assertThat(world.task(id).attempts()).isEmpty();
      world.advance(Duration.ofMillis(200));
      assertThat(world.task(id).attempts().getFirst().detail()).contains("no answer within the timeout");
      world.advance(Duration.ofSeconds(5));
      assertThat(world.receiver.seen.size()).isEqualTo(2);
      assertThat(world.task(id).state()).isEqualTo(TaskState.FINISHED);
    }
  }
}
