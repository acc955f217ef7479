package io.foliot.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler.Pull;
import io.foliot.core.Submission;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests workers that poll some nodes of a cluster, for tasks in slots of all nodes. */
final class PullClusterTest {
  private static final String QUEUE = "pulled";
  private static final Duration TURN = Duration.ofMillis(5);
  private static final long WAIT_MILLIS = 20_000;
  private static final long LEASE_MILLIS = 60_000;

  private final Cluster cluster = new Cluster();
  private final List<Cluster.Node> nodes = List.of(cluster.node("a"), cluster.node("b"), cluster.node("c"));
  private final Map<Cluster.Node, CompletableFuture<List<TaskRecord>>> polls = new HashMap<>();
  private final List<TaskRecord> begun = new ArrayList<>();
  private final List<Long> lateMillis = new ArrayList<>();

  @BeforeEach
  void start() {
    nodes.getFirst().putQueue(QueueConfig.of(QUEUE, Target.pull()));
    cluster.advance(Duration.ofSeconds(10));
  }

  private void submit(int tasks, Duration apart) {
    List<Submission> all = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      all.add(Submission.after(QUEUE, Duration.ofSeconds(1).plus(apart.multipliedBy(i)), Body.EMPTY));
    }
    assertThat(nodes.get(1).engine.submitAll(all)).isNotNull();
  }

  /**
   * Advances the time, while a worker of each {@code polled} node polls without a pause. Each poll asks for at most
   * {@code atOnce} tasks.
   */
  private void work(Duration time, int atOnce, Cluster.Node... polled) {
    for (long left = time.dividedBy(TURN); left > 0; left--) {
      for (Cluster.Node node : polled) {
        CompletableFuture<List<TaskRecord>> poll = polls.get(node);
        if (poll != null && poll.isDone()) {
          poll.join().forEach(task -> {
            begun.add(task);
            lateMillis.add(cluster.clock.wallMillis() - task.dueAt());
          });
        }
        if (poll == null || poll.isDone()) {
          polls.put(node, node.engine.pull(new Pull(QUEUE, atOnce, WAIT_MILLIS, LEASE_MILLIS, "w")));
        }
      }
      cluster.advance(TURN);
    }
  }

  private void ensureEachOnce(int tasks, long mostMillis) {
    assertThat(new HashSet<>(begun.stream().map(TaskRecord::id).toList())).hasSize(tasks);
    assertThat(begun).hasSize(tasks);
    assertThat(lateMillis).allSatisfy(late -> assertThat(late).isBetween(0L, mostMillis));
  }

  @Test
  void aWorkerOfOneNodeGetsTheTasksOfAllSlots() {
    submit(300, Duration.ofMillis(20));
    work(Duration.ofSeconds(10), 10, nodes.getFirst());
    ensureEachOnce(300, 300);
  }

  @Test
  void aBurstReachesTheOnlyWorker() {
    submit(1_000, Duration.ZERO);
    work(Duration.ofSeconds(5), 100, nodes.getLast());
    // A poll returns at most 100 tasks, so the worker needs at least ten polls.
    ensureEachOnce(1_000, 1_500);
  }

  @Test
  void noTaskIsParkedIfEachNodeHasAWorker() {
    submit(300, Duration.ofMillis(20));
    work(Duration.ofSeconds(10), 10, nodes.toArray(Cluster.Node[]::new));
    ensureEachOnce(300, 50);
    assertThat(cluster.remote.parked).isZero();
  }

  @Test
  void tasksThatWaitedReachTheFirstWorkerThatPolls() {
    submit(100, Duration.ZERO);
    cluster.advance(Duration.ofSeconds(30));
    long arrivedMillis = cluster.clock.wallMillis();
    work(Duration.ofSeconds(2), 10, nodes.get(2));
    assertThat(begun).hasSize(100);
    assertThat(cluster.clock.wallMillis() - arrivedMillis).isLessThanOrEqualTo(2_000);
  }

  @Test
  void aLoopThatOwnsItsWholeShareServesOtherNodes() {
    Cluster many = new Cluster();
    List<Cluster.Node> wide = List.of(many.node("a", 16), many.node("b", 16));
    wide.getFirst().putQueue(QueueConfig.of(QUEUE, Target.pull()));
    many.advance(Duration.ofSeconds(10));
    assertThat(begunInTime(many, wide)).isEqualTo(100);
  }

  @Test
  void theOwnerOfAllSlotsServesWorkersOfOtherNodes() {
    Cluster uneven = new Cluster();
    List<Cluster.Node> both = List.of(uneven.node("a"), uneven.node("b"));
    both.getFirst().putQueue(QueueConfig.of(QUEUE, Target.pull()));
    // The clock of node b is so wrong that b owns no slots, but workers may poll b.
    both.getLast().aheadMillis = 60_000;
    uneven.advance(Duration.ofSeconds(10));
    assertThat(begunInTime(uneven, both)).isEqualTo(100);
  }

  /** Submits tasks to the first node. Returns how many of them a worker of the last node gets at most 0.5 s late. */
  private static int begunInTime(Cluster tested, List<Cluster.Node> members) {
    Pull pull = new Pull(QUEUE, 100, WAIT_MILLIS, LEASE_MILLIS, "w");
    CompletableFuture<List<TaskRecord>> poll = members.getLast().engine.pull(pull);
    tested.advance(Duration.ofSeconds(4));
    List<Submission> all = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      all.add(Submission.after(QUEUE, Duration.ofSeconds(1), Body.EMPTY));
    }
    assertThat(members.getFirst().engine.submitAll(all)).isNotNull();
    int got = 0;
    for (int i = 0; i < 300; i++) {
      tested.advance(TURN);
      if (poll.isDone()) {
        got += poll.join().size();
        poll = members.getLast().engine.pull(pull);
      }
    }
    return got;
  }

  @Test
  void aSuccessAtTheNodeOfTheClaimReadsNoTask() {
    submit(10, Duration.ZERO);
    work(Duration.ofSeconds(3), 10, nodes.getFirst());
    ensureEachOnce(10, 1_000);
    cluster.remote.finds = 0;
    begun.subList(0, 9).forEach(task -> assertThat(ack(nodes.getFirst(), task)).isEqualTo(SettleResult.Kind.SETTLED));
    assertThat(cluster.remote.finds).isZero();
    assertThat(ack(nodes.getFirst(), begun.getFirst())).as("repeated").isEqualTo(SettleResult.Kind.REPEATED);
    assertThat(ack(nodes.getLast(), begun.getLast())).as("at another node").isEqualTo(SettleResult.Kind.SETTLED);
    assertThat(cluster.remote.finds).isEqualTo(2);
  }

  @Test
  void aSuccessAfterTheLeaseIsRefusedWithoutARead() {
    submit(1, Duration.ZERO);
    work(Duration.ofSeconds(3), 1, nodes.getFirst());
    TaskRecord first = begun.getFirst();
    work(Duration.ofMillis(LEASE_MILLIS + 5_000), 1, nodes.getFirst());
    assertThat(begun).hasSize(2);
    cluster.remote.finds = 0;
    assertThat(ack(nodes.getFirst(), first)).isEqualTo(SettleResult.Kind.STALE);
    assertThat(ack(nodes.getFirst(), begun.getLast())).isEqualTo(SettleResult.Kind.SETTLED);
    assertThat(cluster.remote.finds).isZero();
  }

  private SettleResult.Kind ack(Cluster.Node node, TaskRecord task) {
    CompletableFuture<SettleResult> answer = node.engine.ack(task.id(), requireNonNull(task.token()), null);
    cluster.advance(Duration.ofMillis(100));
    assertThat(answer).isDone();
    return answer.join().kind();
  }

  @Test
  void aSoleNodeParksNoDueTasks() {
    Cluster alone = new Cluster();
    Cluster.Node node = alone.node("only");
    node.putQueue(QueueConfig.of(QUEUE, Target.pull()));
    alone.advance(Duration.ofSeconds(10));
    assertThat(node.engine.submit(Submission.after(QUEUE, Duration.ofSeconds(1), Body.EMPTY))).isNotNull();
    alone.advance(Duration.ofSeconds(5));
    assertThat(alone.remote.parked).isZero();
  }
}
