package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.store.DocumentKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests engines that share a healthy store while the coordinator, a node or the stored assignment fails. */
final class CoordinatorOutageTest {
  private static final QueueConfig QUEUE = QueueConfig.of("q", Target.local());
  private static final int SLOTS = 16;
  /** The delay of the first task: beyond the look-ahead, so that the owner of its slot fires it, not its writer. */
  private static final Duration FIRST_DUE = Duration.ofSeconds(40);
  /** A time longer than a member lease. */
  private static final Duration LEASES_END = Duration.ofSeconds(10);
  private static final long ON_TIME_MILLIS = 1;
  /** Largest permitted lateness of a task whose slot has lost its owner. */
  private static final long COVERED_MILLIS = 5_000;

  private final Cluster cluster = new Cluster();
  private final List<Cluster.Node> nodes = new ArrayList<>();

  @BeforeEach
  void start() {
    nodes.addAll(List.of(cluster.node("a"), cluster.node("b"), cluster.node("c")));
    nodes.getFirst().putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(5));
    assertThat(ownedSlots()).isEqualTo(SLOTS);
  }

  private int ownedSlots() {
    return nodes.stream().mapToInt(node -> node.engine.cluster().ownedSlots()).sum();
  }

  /** Submits tasks that are due {@code apart} from each other, the first after {@link #FIRST_DUE}. */
  private void submit(int tasks, Duration apart) {
    for (int i = 0; i < tasks; i++) {
      nodes.get(i % nodes.size()).submit(i, i + 1, FIRST_DUE.plus(apart.multipliedBy(i)));
    }
  }

  /** Returns the largest lateness, in milliseconds, of the tasks numbered {@code from} and above. */
  private long mostLateMillis(int from) {
    return cluster.fired.stream().filter(each -> Integer.parseInt(each.text()) >= from)
        .mapToLong(Cluster.Fired::lateMillis).max().orElseThrow();
  }

  @Test
  void nothingIsLateWhileTheCoordinatorIsUnavailableForAnHour() {
    int tasks = 7_200;
    submit(tasks, Duration.ofMillis(500));
    cluster.coordination.away = true;
    cluster.advance(Duration.ofMinutes(62));
    cluster.ensureEachOnce(tasks);
    assertThat(mostLateMillis(0)).isLessThanOrEqualTo(ON_TIME_MILLIS);
    assertThat(ownedSlots()).isEqualTo(SLOTS);
    assertThat(cluster.remote.claimItems).as("claims").isEqualTo(tasks);
  }

  @Test
  void nothingIsLateIfTheCoordinatorNeverAnswers() {
    int tasks = 1_200;
    submit(tasks, Duration.ofMillis(50));
    cluster.coordination.mute = true;
    cluster.advance(Duration.ofMinutes(2));
    cluster.ensureEachOnce(tasks);
    assertThat(mostLateMillis(0)).isLessThanOrEqualTo(ON_TIME_MILLIS);
  }

  @Test
  void nothingIsLateWhenTheCoordinatorIsBack() {
    int tasks = 1_200;
    submit(tasks, Duration.ofMillis(50));
    cluster.advance(FIRST_DUE);
    for (int outage = 0; outage < 3; outage++) {
      cluster.coordination.away = true;
      cluster.advance(LEASES_END);
      cluster.coordination.away = false;
      cluster.advance(LEASES_END);
      assertThat(nodes).extracting(node -> node.engine.cluster().ownedSlots()).containsExactly(6, 5, 5);
    }
    cluster.advance(Duration.ofSeconds(10));
    cluster.ensureEachOnce(tasks);
    assertThat(mostLateMillis(0)).isLessThanOrEqualTo(ON_TIME_MILLIS);
    assertThat(cluster.remote.claimItems).as("claims").isEqualTo(tasks);
  }

  @Test
  void slotsKeepTheirOwnersWhenAllLeasesHaveEnded() {
    long before = assignmentVersion();
    cluster.coordination.away = true;
    cluster.advance(Duration.ofHours(1));
    cluster.coordination.away = false;
    cluster.advance(LEASES_END);
    assertThat(assignmentVersion()).isEqualTo(before);
  }

  private long assignmentVersion() {
    return cluster.store.document(DocumentKind.CLUSTER, "assignment").toCompletableFuture().join().orElseThrow()
        .version();
  }

  /** The number of tasks that are due in each second. */
  private static final int PER_SECOND = 200;

  @Test
  void tasksOfADeadNodeFireWithinSecondsAndLaterOnTime() {
    int tasks = 60 * PER_SECOND;
    submit(tasks, Duration.ofMillis(1_000 / PER_SECOND));
    cluster.coordination.away = true;
    cluster.advance(FIRST_DUE.plusSeconds(10));
    nodes.getLast().die();
    cluster.advance(Duration.ofSeconds(60));
    cluster.ensureEachOnce(tasks);
    assertThat(mostLateMillis(0)).isLessThanOrEqualTo(COVERED_MILLIS);
    assertThat(mostLateMillis(15 * PER_SECOND)).isLessThanOrEqualTo(ON_TIME_MILLIS);
    assertThat(cluster.remote.claimItems).as("claims").isLessThan(tasks + tasks / 20);
  }

  @Test
  void theSurvivorOfFiveNodesFiresAllTasks() {
    nodes.add(cluster.node("d"));
    nodes.add(cluster.node("e"));
    cluster.advance(Duration.ofSeconds(5));
    int tasks = 60 * PER_SECOND;
    submit(tasks, Duration.ofMillis(1_000 / PER_SECOND));
    cluster.advance(FIRST_DUE.plusSeconds(1));
    cluster.coordination.away = true;
    cluster.advance(Duration.ofSeconds(9));
    nodes.subList(1, 5).forEach(Cluster.Node::die);
    cluster.advance(Duration.ofSeconds(60));
    cluster.ensureEachOnce(tasks);
    assertThat(mostLateMillis(0)).isLessThanOrEqualTo(10_000);
    assertThat(mostLateMillis(20 * PER_SECOND)).isLessThanOrEqualTo(ON_TIME_MILLIS);
  }

  @Test
  void aNodePausedBeyondItsLeaseReadsTheNewAssignmentAtOnce() {
    Cluster.Node frozen = nodes.getLast();
    frozen.pause();
    cluster.advance(LEASES_END);
    assertThat(nodes.subList(0, 2)).extracting(node -> node.engine.cluster().ownedSlots()).containsExactly(8, 8);
    assertThat(frozen.engine.cluster().ownedSlots()).isEqualTo(5);
    long before = assignmentVersion();
    frozen.resume();
    cluster.advance(Duration.ofMillis(50));
    // Until a newer assignment gives slots to this node again, it owns none.
    assertThat(assignmentVersion() == before ? frozen.engine.cluster().ownedSlots() : 0).isZero();
    cluster.advance(Duration.ofSeconds(2));
    assertThat(nodes).extracting(node -> node.engine.cluster().ownedSlots()).containsExactlyInAnyOrder(6, 5, 5);
  }

  @Test
  void aPausedNodeGetsItsSlotsBackOnceResumed() {
    // At each instant the loop of the first node runs first, so the claims of this node win.
    Cluster.Node owner = nodes.getFirst();
    int tasks = 160 * 50;
    submit(tasks, Duration.ofMillis(20));
    cluster.coordination.away = true;
    cluster.advance(FIRST_DUE.plusSeconds(10));
    owner.pause();
    cluster.advance(Duration.ofSeconds(10));
    owner.resume();
    // For a while the other nodes still claim entries of this node's slots that they have prefetched. If a claim finds
    // an attempt that runs, the node repeats the claim at the end of that attempt's lease.
    cluster.advance(Duration.ofSeconds(75));
    long before = cluster.remote.claimItems;
    int fired = cluster.fired.size();
    cluster.advance(Duration.ofSeconds(60));
    assertThat(cluster.remote.claimItems - before).as("claims after the other nodes have stopped")
        .isLessThan((tasks - fired) * 21L / 20);
    cluster.advance(Duration.ofSeconds(40));
    cluster.ensureEachOnce(tasks);
  }

  @Test
  void tasksOfAStoppedNodeFireWithinSeconds() {
    int tasks = 20 * PER_SECOND;
    submit(tasks, Duration.ofMillis(1_000 / PER_SECOND));
    cluster.coordination.away = true;
    cluster.advance(FIRST_DUE.plusSeconds(10));
    CompletableFuture<Void> stopped = nodes.getLast().engine.stop(Duration.ofSeconds(10));
    cluster.advance(Duration.ofSeconds(30));
    assertThat(stopped).isCompleted();
    cluster.ensureEachOnce(tasks);
    assertThat(mostLateMillis(0)).isLessThanOrEqualTo(COVERED_MILLIS);
  }

  @Test
  void aNodeOwnsNoSlotsWhileItsClockIsWrong() {
    Cluster.Node wrong = nodes.getLast();
    cluster.coordination.away = true;
    cluster.advance(LEASES_END);
    wrong.aheadMillis = Duration.ofHours(1).toMillis();
    cluster.advance(Duration.ofSeconds(3));
    assertThat(wrong.engine.cluster().ownedSlots()).isZero();
    wrong.aheadMillis = 0;
    cluster.advance(Duration.ofSeconds(3));
    assertThat(wrong.engine.cluster().ownedSlots()).as("no newer assignment has taken the slots away").isEqualTo(5);
  }

  @Test
  void aMissingOrUnreadableAssignmentTakesNoSlotsAway() {
    int tasks = 20 * PER_SECOND;
    submit(tasks, Duration.ofMillis(1_000 / PER_SECOND));
    cluster.advance(FIRST_DUE.plusSeconds(1));
    for (byte[] content : new byte[][]{null, {99}}) {
      assertThat(
          cluster.store.writeDocument(DocumentKind.CLUSTER, "assignment", assignmentVersion(), content)).isCompleted();
      int[] least = {SLOTS};
      IntStream.range(0, 100).forEach(turn -> {
        cluster.advance(Duration.ofMillis(20));
        least[0] = Math.min(least[0], ownedSlots());
      });
      assertThat(least[0]).isEqualTo(SLOTS);
      assertThat(nodes).extracting(node -> node.engine.cluster().ownedSlots()).containsExactly(6, 5, 5);
    }
    cluster.advance(Duration.ofSeconds(30));
    cluster.ensureEachOnce(tasks);
    assertThat(mostLateMillis(0)).isLessThanOrEqualTo(ON_TIME_MILLIS);
  }

  @Test
  void limitedQueuesFireDuringAnOutage() {
    nodes.getFirst().putQueue(QUEUE.toBuilder().concurrency(3).build());
    int tasks = 1_200;
    submit(tasks, Duration.ofMillis(50));
    cluster.coordination.away = true;
    cluster.advance(Duration.ofMinutes(3));
    cluster.ensureEachOnce(tasks);
    // The first task of an idle queue waits until the node has permits.
    assertThat(mostLateMillis(0)).isLessThanOrEqualTo(1_100);
  }
}
