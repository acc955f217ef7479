package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler;
import io.foliot.core.Unready;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests several engines that share the slots of one store. */
final class ClusterTest {
  private static final QueueConfig QUEUE = QueueConfig.of("q", Target.local());
  /** Number of rounds of one second. In each round, a node joins or leaves. */
  private static final int ROUNDS = Integer.getInteger("rounds", 60);

  private final Cluster cluster = new Cluster();

  @Test
  void nodesShareTheWorkAndFireOnTheMillisecond() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    Cluster.Node c = cluster.node("c");
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(5));
    // These tasks are due beyond the look-ahead, so the owners of their slots fire them.
    a.submit(0, 300, Duration.ofMinutes(2));
    b.submit(300, 600, Duration.ofMillis(700));
    cluster.advance(Duration.ofSeconds(1));
    assertThat(cluster.fired).hasSize(300);
    cluster.ensureLateBy(0, 1);
    cluster.advance(Duration.ofMinutes(3));
    cluster.ensureEachOnce(600);
    cluster.ensureLateBy(0, 1);
    assertThat(cluster.firedBy.keySet()).containsExactlyInAnyOrder("a", "b", "c");
    assertThat(c.engine.status().ready()).isTrue();
  }

  @Test
  void tasksOfADeadNodeFireWithinSeconds() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(5));
    a.submit(0, 500, Duration.ofMinutes(2));
    cluster.advance(Duration.ofSeconds(118));
    b.die();
    cluster.advance(Duration.ofSeconds(20));
    cluster.ensureEachOnce(500);
    cluster.ensureLateBy(0, 5_000);
  }

  @Test
  void anExplanationNamesTheOwnerOfTheSlot() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(5));
    a.submit(0, 20, Duration.ofMinutes(2));
    cluster.advance(Duration.ofSeconds(1));
    Set<String> owners = new HashSet<>();
    for (TaskRecord task : cluster.store.query("q", null, 20, null).toCompletableFuture().join().tasks()) {
      String byA = owner(a, task);
      assertThat(owner(b, task)).as("both nodes name the same owner").isEqualTo(byA);
      owners.add(byA);
    }
    assertThat(owners).containsExactlyInAnyOrder("a", "b");
  }

  private String owner(Cluster.Node node, TaskRecord task) {
    CompletableFuture<Optional<Scheduler.Explanation>> why = node.engine.explain(task.id());
    cluster.advance(Duration.ofMillis(100));
    return String.valueOf(why.join().orElseThrow().owner());
  }

  /** Checks that a timeout of hours delays no takeover, and that a long attempt of a live node does not begin twice. */
  @Test
  void anAttemptOfADeadNodeComesBackAfterItsRenewedLease() {
    Cluster.Node a = cluster.node("a");
    a.putQueue(QueueConfig.of("q", new Target(Target.LOCAL, Map.of(), Duration.ofHours(2))));
    cluster.advance(Duration.ofSeconds(5));
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    cluster.behaviour = attempt -> {
      answers.add(new CompletableFuture<>());
      return answers.getLast();
    };
    a.submit(0, 3, Duration.ZERO);
    cluster.advance(Duration.ofHours(1));
    cluster.ensureEachOnce(3);
    Cluster.Node b = cluster.node("b");
    cluster.advance(Duration.ofSeconds(10));
    a.die();
    cluster.advance(Duration.ofSeconds(16));
    assertThat(cluster.firedBy).containsEntry(b.name(), 3);
    answers.subList(3, 6).forEach(answer -> answer.complete(new Answer.Done("")));
    cluster.advance(Duration.ofSeconds(1));
    assertThat(cluster.store.counts().toCompletableFuture().join().get("q").finished()).isEqualTo(3);
  }

  @Test
  void aPermitIsFreeSoonAfterAnAckToAnotherNode() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    a.putQueue(QueueConfig.builder("q", Target.pull()).concurrency(1).build());
    cluster.advance(Duration.ofSeconds(5));
    a.submit(0, 5, Duration.ZERO);
    for (int i = 0; i < 5; i++) {
      CompletableFuture<List<TaskRecord>> pulled = a.engine
          .pull(new Scheduler.Pull("q", 1, 10_000, Duration.ofHours(24).toMillis(), "w"));
      for (int millis = 0; millis < 10_000 && !pulled.isDone(); millis += 100) {
        cluster.advance(Duration.ofMillis(100));
      }
      assertThat(pulled.join()).as("task " + i).hasSize(1);
      TaskRecord task = pulled.join().getFirst();
      CompletableFuture<SettleResult> acked = b.engine.ack(task.id(), Objects.requireNonNull(task.token()), null);
      cluster.advance(Duration.ZERO);
      assertThat(acked.join().kind()).isEqualTo(SettleResult.Kind.SETTLED);
    }
  }

  @Test
  void withoutAnyCoordinatorEverythingFiresWithinSeconds() {
    Cluster.Node a = cluster.withoutCoordinator("a");
    cluster.withoutCoordinator("b");
    a.putQueue(QUEUE);
    a.submit(0, 500, Duration.ofMinutes(2));
    cluster.advance(Duration.ofMinutes(3));
    cluster.ensureEachOnce(500);
    cluster.ensureLateBy(0, 5_000);
  }

  @Test
  void eachNodeClaimsParkedTasksOfOwnedSlotsFirst() {
    int tasks = 6_000;
    Cluster.Node a = cluster.node("a");
    cluster.node("b");
    cluster.node("c");
    a.putQueue(QUEUE.toBuilder().paused(true).build());
    cluster.advance(Duration.ofSeconds(5));
    a.submit(0, tasks, Duration.ofMillis(100));
    cluster.advance(Duration.ofSeconds(5));
    assertThat(cluster.remote.parked).isGreaterThanOrEqualTo(tasks);
    long before = cluster.remote.claimItems;
    cluster.remote.slow = true;
    cluster.remote.slowParked = true;
    a.putQueue(QUEUE);
    // During these 2 s all nodes read the new settings, and no claim is answered.
    cluster.advance(Duration.ofSeconds(2));
    for (int millis = 0; millis < 5_000 && cluster.fired.size() < tasks; millis += 5) {
      cluster.advance(Duration.ofMillis(5));
      cluster.remote.releaseAnswers();
      cluster.advance(Duration.ZERO);
    }
    cluster.ensureEachOnce(tasks);
    assertThat(cluster.remote.claimItems - before).as("claims").isLessThan(tasks + tasks / 10);
  }

  @Test
  void nodesThatJoinAndLeaveLoseNoTask() {
    Cluster.Node first = cluster.node("a");
    first.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(3));
    int next = 0;
    List<Cluster.Node> nodes = new ArrayList<>(List.of(first));
    Set<String> names = new HashSet<>();
    for (int round = 0; round < ROUNDS; round++) {
      first.submit(next, next + 20, Duration.ofMillis(cluster.random.nextInt(40_000)));
      next += 20;
      if (nodes.size() > 1 && cluster.random.nextBoolean()) {
        Cluster.Node gone = nodes.remove(1 + cluster.random.nextInt(nodes.size() - 1));
        if (cluster.random.nextBoolean()) {
          gone.die();
        } else {
          CompletableFuture<Void> unused = gone.engine.stop(Duration.ofSeconds(10));
        }
      } else {
        String name = "n" + round;
        names.add(name);
        nodes.add(cluster.node(name));
      }
      cluster.advance(Duration.ofSeconds(1));
    }
    cluster.advance(Duration.ofMinutes(3));
    cluster.ensureEachOnce(next);
    assertThat(cluster.firedBy.keySet()).containsAnyElementsOf(names);
  }

  @Test
  void aRollingRestartUnderLoadDelaysNoTask() {
    List<Cluster.Node> nodes = new ArrayList<>(
        List.of(cluster.node("a"), cluster.node("b"), cluster.node("c")));
    nodes.getFirst().putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(5));
    // Tasks due beyond the look-ahead are fired by the owners of their slots. One is due every 5 ms of the restart.
    Duration begin = Duration.ofSeconds(40);
    for (int i = 0; i < 6_000; i++) {
      nodes.get(i % 3).submit(i, i + 1, begin.plusMillis(5L * i));
    }
    cluster.advance(begin);
    for (String name : List.of("a", "b", "c")) {
      Cluster.Node old = nodes.removeFirst();
      CompletableFuture<Void> stopped = old.engine.stop(Duration.ofSeconds(10));
      cluster.advance(Duration.ofSeconds(2));
      assertThat(stopped).isCompleted();
      old.die();
      cluster.advance(Duration.ofSeconds(1));
      nodes.add(cluster.node(name));
      cluster.advance(Duration.ofSeconds(5));
    }
    cluster.advance(Duration.ofSeconds(20));
    cluster.ensureEachOnce(6_000);
    cluster.ensureLateBy(0, 1);
  }

  @Test
  void aNodeWithAWrongClockTakesNoSlotsAndFiresNothingEarlyOrTwice() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(5));
    assertThat(b.engine.cluster().ownedSlots()).isEqualTo(8);
    for (int i = 0; i < 1_000; i++) {
      a.submit(i, i + 1, Duration.ofSeconds(40).plusMillis(60L * i));
    }
    cluster.advance(Duration.ofSeconds(45));
    b.aheadMillis = Duration.ofHours(1).toMillis();
    cluster.advance(Duration.ofSeconds(15));
    assertThat(b.engine.cluster().ownedSlots()).isZero();
    assertThat(a.engine.cluster().ownedSlots()).isEqualTo(16);
    assertThat(a.engine.cluster().nodes()).anySatisfy(node -> {
      assertThat(node.node()).isEqualTo("b");
      assertThat(node.takesSlots()).isFalse();
      assertThat(node.clockOffsetMillis()).isEqualTo(-Duration.ofHours(1).toMillis());
    });
    assertThat(b.engine.status().unready()).contains(new Unready.ClockOff(-Duration.ofHours(1).toMillis()));
    assertThat(a.engine.status().unready()).isEmpty();
    b.aheadMillis = -Duration.ofHours(1).toMillis();
    cluster.advance(Duration.ofSeconds(15));
    assertThat(b.engine.cluster().ownedSlots()).isZero();
    b.aheadMillis = 20;
    cluster.advance(Duration.ofSeconds(15));
    assertThat(b.engine.cluster().ownedSlots()).isEqualTo(8);
    assertThat(b.engine.status().unready()).isEmpty();
    cluster.advance(Duration.ofSeconds(40));
    cluster.ensureEachOnce(1_000);
    cluster.ensureLateBy(0, 1);
  }

  @Test
  void anAssignmentThatCannotBeReadIsPublishedAnew() {
    Cluster.Node a = cluster.node("a");
    Cluster.Node b = cluster.node("b");
    cluster.advance(Duration.ofSeconds(5));
    long version = cluster.store.document(DocumentKind.CLUSTER, "assignment").toCompletableFuture().join().orElseThrow()
        .version();
    assertThat(cluster.store.writeDocument(DocumentKind.CLUSTER, "assignment", version, new byte[]{99})).isCompleted();
    cluster.advance(Duration.ofSeconds(2));
    assertThat(a.engine.cluster().ownedSlots()).isEqualTo(8);
    assertThat(b.engine.cluster().ownedSlots()).isEqualTo(8);
  }
}
