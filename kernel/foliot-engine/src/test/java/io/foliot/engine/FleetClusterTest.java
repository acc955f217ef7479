package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.core.Address;
import io.foliot.core.Scheduler.Pull;
import io.foliot.core.Scheduler.Pulled;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests three nodes whose workers run tasks that are addressed to seats and zones. */
final class FleetClusterTest {
  private static final String QUEUE = "pulled";
  private static final Duration TURN = Duration.ofMillis(5);
  private static final long WAIT_MILLIS = 5_000;
  private static final long LEASE_MILLIS = 10_000;
  /** Maximum time until all nodes know that a worker is gone: the lease of its tasks plus two seconds. */
  private static final Duration UNTIL_GONE = Duration.ofMillis(LEASE_MILLIS + 2_000);
  /** Maximum time until all nodes know the seat of a new worker. */
  private static final Duration UNTIL_SEATED = Duration.ofSeconds(4);

  private final Cluster cluster = new Cluster();
  private final List<Cluster.Node> nodes = List.of(cluster.node("a"), cluster.node("b"), cluster.node("c"));
  private final List<Worker> workers = new ArrayList<>();
  private int items;

  /** A worker that polls a node without a pause, and acknowledges its tasks at once. */
  private final class Worker {
    final String name;
    final String zone;
    Cluster.Node node;
    boolean polls = true;
    private boolean keeps;
    private @Nullable TaskRecord kept;
    final Map<Address, Integer> begun = new HashMap<>();
    final List<Long> lateMillis = new ArrayList<>();
    private CompletableFuture<List<TaskRecord>> poll = CompletableFuture.completedFuture(List.of());

    Worker(String name, String zone, Cluster.Node node) {
      this.name = name;
      this.zone = zone;
      this.node = node;
      workers.add(this);
    }

    void turn() {
      if (!poll.isDone()) {
        return;
      }
      poll.join().forEach(task -> {
        if (keeps) {
          kept = task;
          return;
        }
        begun.merge(task.id().address(), 1, Integer::sum);
        lateMillis.add(cluster.clock.wallMillis() - task.dueAt());
        assertThat(node.engine.ack(task.id(), task.token(), null, TaskNote.NONE)).isNotNull();
      });
      poll = polls
          ? node.engine.pull(new Pull(QUEUE, 10, WAIT_MILLIS, LEASE_MILLIS, name, zone))
          : CompletableFuture.completedFuture(List.of());
    }

    int seat() {
      Fleet.Seat seat = node.engine.fleet().seatOf(name);
      assertThat(seat).as(name).isNotNull();
      assertThat(seat.zone()).isEqualTo(zone);
      return seat.number();
    }

    /** Gets a task that takes long. */
    void takesALongTask() {
      keeps = true;
      submit(1, new Address(Address.Kind.ONLY, seat()));
      work(Duration.ofSeconds(1));
      keeps = false;
      assertThat(kept).isNotNull();
    }

    /** Extends the lease of the long task. */
    void extend() {
      assertThat(node.engine.extend(kept.id(), kept.token(), Duration.ofMillis(LEASE_MILLIS))).isNotNull();
    }

    int count(Address.Kind kind, int number) {
      return begun.getOrDefault(kind == Address.Kind.ANY ? Address.ANYWHERE : new Address(kind, number), 0);
    }
  }

  @BeforeEach
  void start() {
    nodes.getFirst().putQueue(QueueConfig.of(QUEUE, Target.pull()));
    cluster.advance(Duration.ofSeconds(10));
  }

  private void work(Duration time) {
    for (long left = time.dividedBy(TURN); left > 0; left--) {
      workers.forEach(Worker::turn);
      cluster.advance(TURN);
    }
  }

  private void submit(int tasks, Address address) {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      int hash16 = cluster.random.nextInt(1 << 16);
      TaskId id = address.isAnywhere()
          ? TaskId.of(cluster.clock.wallMillis(), hash16, cluster.random.nextLong())
          : TaskId.addressed(cluster.clock.wallMillis(), hash16, address, items++ % 10_000, cluster.random.nextLong());
      drafts.add(new Draft(id, QUEUE, null, Due.after(500), Body.EMPTY, 0, OnConflict.REJECT, null));
    }
    assertThat(cluster.store.submit(drafts).toCompletableFuture()).isDone();
  }

  @Test
  void eachTaskBeginsSoonAtAWorkerOfItsAddress() {
    Worker fra = new Worker("one", "fra", nodes.get(0));
    Worker lon = new Worker("two", "lon", nodes.get(1));
    Worker more = new Worker("three", "lon", nodes.get(1));
    work(UNTIL_SEATED);
    submit(50, new Address(Address.Kind.SEAT, fra.seat()));
    submit(50, new Address(Address.Kind.ONLY, lon.seat()));
    submit(50, new Address(Address.Kind.ZONE_SEAT, more.seat()));
    int zone = nodes.getFirst().engine.fleet().zone("lon");
    submit(50, new Address(Address.Kind.ZONE, zone));
    submit(50, Address.ANYWHERE);
    work(Duration.ofSeconds(3));
    assertThat(fra.count(Address.Kind.SEAT, fra.seat())).isEqualTo(50);
    assertThat(lon.count(Address.Kind.ONLY, lon.seat())).isEqualTo(50);
    assertThat(more.count(Address.Kind.ZONE_SEAT, more.seat())).isEqualTo(50);
    assertThat(lon.count(Address.Kind.ZONE, zone) + more.count(Address.Kind.ZONE, zone)).isEqualTo(50);
    assertThat(workers).extracting(each -> each.count(Address.Kind.ANY, 0)).satisfies(
        counts -> assertThat(counts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(50));
    assertThat(workers.stream().flatMap(each -> each.lateMillis.stream()).toList()).as("lateness of all tasks")
        .allSatisfy(late -> assertThat(late).isBetween(0L, 700L));
  }

  @Test
  void tasksOfADeadWorkerGoToItsSubstitute() {
    Worker dead = new Worker("one", "fra", nodes.get(0));
    Worker lon = new Worker("two", "lon", nodes.get(1));
    work(UNTIL_SEATED);
    int seat = dead.seat();
    dead.polls = false;
    workers.remove(dead);
    submit(20, new Address(Address.Kind.SEAT, seat));
    submit(20, new Address(Address.Kind.ONLY, seat));
    submit(20, new Address(Address.Kind.ZONE_SEAT, seat));
    work(UNTIL_GONE);
    assertThat(lon.count(Address.Kind.SEAT, seat)).isEqualTo(20);
    assertThat(lon.begun).hasSize(1);
    Worker fra = new Worker("three", "fra", nodes.get(2));
    work(UNTIL_SEATED);
    assertThat(fra.seat()).as("the seat stays reserved").isNotEqualTo(seat);
    assertThat(fra.count(Address.Kind.ZONE_SEAT, seat)).isEqualTo(20);
    assertThat(fra.count(Address.Kind.ONLY, seat)).isZero();
    Worker back = new Worker("one", "fra", nodes.get(1));
    work(UNTIL_SEATED);
    assertThat(back.seat()).as("a worker that returns gets its former seat").isEqualTo(seat);
    assertThat(back.count(Address.Kind.ONLY, seat)).isEqualTo(20);
  }

  @Test
  void tasksThatWaitForAStoppedWorkerBeginWithinASecond() {
    Worker stopped = new Worker("one", "fra", nodes.get(0));
    Worker other = new Worker("two", "fra", nodes.get(1));
    work(UNTIL_SEATED);
    int seat = stopped.seat();
    stopped.takesALongTask();
    // The worker does not poll, so the tasks addressed to its seat wait at its node, or are parked.
    stopped.polls = false;
    for (int i = 0; i < 3; i++) {
      work(Duration.ofMillis(WAIT_MILLIS / 2));
      stopped.extend();
    }
    submit(40, new Address(Address.Kind.SEAT, seat));
    work(Duration.ofSeconds(1));
    assertThat(other.begun).isEmpty();
    nodes.get(0).engine.left(WorkerId.of("one"), QUEUE);
    work(Duration.ofSeconds(1));
    assertThat(other.count(Address.Kind.SEAT, seat)).isEqualTo(40);
  }

  @Test
  void thePollOfAStoppedWorkerEnds() {
    Worker stopped = new Worker("one", "fra", nodes.get(0));
    work(UNTIL_SEATED);
    stopped.takesALongTask();
    CompletableFuture<List<TaskRecord>> poll = stopped.poll;
    assertThat(poll).isNotDone();
    stopped.polls = false;
    nodes.get(0).engine.left(WorkerId.of("one"), QUEUE);
    submit(10, Address.ANYWHERE);
    work(Duration.ofSeconds(1));
    assertThat(poll).isCompletedWithValue(List.of());
    assertThat(nodes.get(2).engine.fleet().seatOf("one")).isNull();
    stopped.extend();
    work(Duration.ofSeconds(1));
    assertThat(nodes.get(2).engine.fleet().seatOf("one")).as("an extension gives a stopped worker no seat").isNull();
  }

  @Test
  void aDisabledWorkerGetsNoTasks() {
    Worker one = new Worker("one", "fra", nodes.get(0));
    Worker two = new Worker("two", "fra", nodes.get(1));
    work(UNTIL_SEATED);
    CompletableFuture<Boolean> disabled = nodes.get(2).engine.enableWorker("one", false);
    work(Duration.ofSeconds(3));
    assertThat(disabled.join()).isTrue();
    int seat = one.seat();
    submit(100, new Address(Address.Kind.SEAT, seat));
    submit(100, Address.ANYWHERE);
    work(Duration.ofSeconds(4));
    assertThat(one.begun).isEmpty();
    assertThat(two.count(Address.Kind.SEAT, seat)).isEqualTo(100);
    assertThat(two.count(Address.Kind.ANY, 0)).isEqualTo(100);
    submit(10, new Address(Address.Kind.ONLY, seat));
    work(Duration.ofSeconds(3));
    assertThat(two.begun).hasSize(2);
    CompletableFuture<Boolean> enabled = nodes.get(2).engine.enableWorker("one", true);
    work(Duration.ofSeconds(4));
    assertThat(enabled.join()).isTrue();
    assertThat(one.count(Address.Kind.ONLY, seat)).isEqualTo(10);
    CompletableFuture<Boolean> unknown = nodes.get(2).engine.enableWorker("three", true);
    work(Duration.ofSeconds(1));
    assertThat(unknown.join()).isFalse();
  }

  @Test
  void aClaimAfterTheAnswerToADisableGetsNoTask() {
    Worker one = new Worker("one", "fra", nodes.get(0));
    work(UNTIL_SEATED);
    one.takesALongTask();
    one.polls = false;
    for (long left = WAIT_MILLIS; left > 0; left -= 1_000) {
      work(Duration.ofSeconds(1));
      one.extend();
    }
    submit(20, Address.ANYWHERE);
    work(Duration.ofSeconds(1));
    CompletableFuture<Boolean> disabled = nodes.get(0).engine.enableWorker("one", false);
    for (int i = 0; i < 1_000 && !disabled.isDone(); i++) {
      cluster.advance(Duration.ofMillis(1));
    }
    assertThat(disabled.join()).isTrue();
    one.polls = true;
    work(Duration.ofSeconds(3));
    assertThat(one.begun).isEmpty();
  }

  @Test
  void aDisabledWorkerThatMovesToAnotherZoneGetsNoTasks() {
    Worker one = disabledWorker();
    one.polls = false;
    work(Duration.ofMillis(WAIT_MILLIS));
    submit(20, Address.ANYWHERE);
    workers.remove(one);
    Worker moved = new Worker("one", "lon", nodes.get(0));
    work(UNTIL_SEATED.multipliedBy(2));
    assertThat(moved.begun).isEmpty();
  }

  @Test
  void aWaitKeepsAWorkerAliveForFifteenSeconds() {
    CompletableFuture<List<TaskRecord>> poll = nodes.get(0).engine
        .pull(new Pull(QUEUE, 1, 60_000, LEASE_MILLIS, "dead", "fra"));
    work(Duration.ofSeconds(14));
    assertThat(nodes.get(1).engine.fleet().seatOf("dead")).isNotNull();
    work(Duration.ofSeconds(5));
    assertThat(poll).isCompletedWithValue(List.of());
    assertThat(nodes.get(1).engine.fleet().seatOf("dead")).isNull();
  }

  /** Returns a worker that polls the first node, has a seat, and has been disabled through the third node. */
  private Worker disabledWorker() {
    Worker one = new Worker("one", "fra", nodes.get(0));
    work(UNTIL_SEATED);
    CompletableFuture<Boolean> disabled = nodes.get(2).engine.enableWorker(one.name, false);
    work(Duration.ofSeconds(2));
    assertThat(disabled.join()).isTrue();
    return one;
  }

  @Test
  void aDisabledWorkerThatReturnsGetsNoTasks() {
    Worker one = disabledWorker();
    one.polls = false;
    work(UNTIL_GONE);
    assertThat(nodes.get(0).engine.fleet().seatOf("one")).isNull();
    submit(20, Address.ANYWHERE);
    work(Duration.ofSeconds(3));
    one.polls = true;
    work(UNTIL_SEATED);
    assertThat(nodes.get(0).engine.fleet().seatOf("one")).isNotNull();
    assertThat(one.begun).isEmpty();
  }

  @Test
  void aDisabledWorkerThatMovesToAnotherNodeGetsNoTasks() {
    Worker one = disabledWorker();
    submit(50, Address.ANYWHERE);
    work(Duration.ofSeconds(2));
    one.node = nodes.get(1);
    one.poll = CompletableFuture.completedFuture(List.of());
    work(UNTIL_SEATED);
    assertThat(one.seat()).isZero();
    assertThat(one.begun).as("the first poll at a node that had no worker").isEmpty();
  }

  @Test
  void aWorkerThatMovesToAnotherNodeKeepsItsSeat() {
    Worker one = new Worker("one", "fra", nodes.get(0));
    work(UNTIL_SEATED);
    int seat = one.seat();
    nodes.get(0).die();
    one.node = nodes.get(1);
    one.poll = CompletableFuture.completedFuture(List.of());
    work(Duration.ofSeconds(12));
    Fleet.Seat now = nodes.get(1).engine.fleet().seatOf("one");
    assertThat(now).isNotNull();
    assertThat(now.number()).isEqualTo(seat);
    assertThat(now.node()).isEqualTo("b");
    submit(20, new Address(Address.Kind.ONLY, seat));
    work(Duration.ofSeconds(3));
    assertThat(one.count(Address.Kind.ONLY, seat)).isEqualTo(20);
  }

  private long seatsVersion() {
    return cluster.store.document(DocumentKind.FLEET, Fleet.SEATS).toCompletableFuture().join().orElseThrow().version();
  }

  @Test
  void workersOfANodeThatOnlyTheCoordinatorHasLostKeepTheirSeats() {
    Worker one = new Worker("one", "fra", cluster.withoutCoordinator("d"));
    Worker two = new Worker("two", "fra", nodes.get(1));
    work(UNTIL_SEATED);
    int seat = one.seat();
    long version = seatsVersion();
    for (int i = 0; i < 20; i++) {
      work(Duration.ofSeconds(1));
      assertThat(nodes.get(1).engine.fleet().seatOf("one")).as("second %s", i).isNotNull();
    }
    assertThat(seatsVersion()).as("no node rewrites the seats").isEqualTo(version);
    submit(20, new Address(Address.Kind.SEAT, seat));
    work(Duration.ofSeconds(3));
    assertThat(one.count(Address.Kind.SEAT, seat)).isEqualTo(20);
    assertThat(two.begun).isEmpty();
  }

  /** Runs for a time, and ensures in each turn that all nodes know that some workers are live. */
  private void workWhileAllAreLive(Duration time, List<Worker> live) {
    for (long left = time.dividedBy(TURN); left > 0; left--) {
      work(TURN);
      cluster.remote.releaseAnswers();
      for (Cluster.Node node : nodes) {
        assertThat(live).as(node.name())
            .allSatisfy(each -> assertThat(node.engine.fleet().seatOf(each.name)).isNotNull());
      }
    }
  }

  @Test
  void aSuspendedNodeTakesNoWorkerOfAnotherNodeForGone() {
    Worker two = new Worker("two", "fra", nodes.get(1));
    Worker three = new Worker("three", "lon", nodes.get(2));
    work(UNTIL_SEATED);
    // A store behind a network: the clock is read once a second, and a turn after the call at the earliest.
    cluster.remote.slowClock = true;
    workWhileAllAreLive(Duration.ofSeconds(5), List.of(two, three));
    long version = seatsVersion();
    for (int i = 0; i < 8; i++) {
      Duration asleep = Duration.ofMillis(30_000 + 130 * i);
      nodes.getFirst().sleep(asleep, () -> {
        for (long left = asleep.dividedBy(TURN); left > 0; left--) {
          work(TURN);
          cluster.remote.releaseAnswers();
        }
      });
      workWhileAllAreLive(Duration.ofMillis(2_500), List.of(two, three));
    }
    assertThat(seatsVersion()).as("no node rewrites the seats").isEqualTo(version);
  }

  @Test
  void theWorkersOfANodeThatStopsLeaveTheirSeatsAtOnce() {
    Worker one = new Worker("one", "fra", nodes.get(0));
    Worker two = new Worker("two", "fra", nodes.get(1));
    work(UNTIL_SEATED);
    int seat = one.seat();
    workers.remove(one);
    CompletableFuture<Void> stopped = nodes.getFirst().engine.stop(Duration.ofSeconds(30));
    work(Duration.ofSeconds(1));
    assertThat(stopped).isDone();
    long version = seatsVersion();
    assertThat(nodes.get(1).engine.fleet().seatOf("one")).isNull();
    submit(20, new Address(Address.Kind.SEAT, seat));
    work(Duration.ofSeconds(3));
    assertThat(two.count(Address.Kind.SEAT, seat)).isEqualTo(20);
    assertThat(seatsVersion()).as("no node rewrites the seats").isEqualTo(version);
  }

  @Test
  void extensionsKeepTheSeatOfABusyWorker() {
    Worker one = new Worker("one", "fra", nodes.get(0));
    work(UNTIL_SEATED);
    int seat = one.seat();
    one.takesALongTask();
    one.polls = false;
    for (int i = 0; i < 20; i++) {
      work(Duration.ofMillis(LEASE_MILLIS / 3));
      one.extend();
    }
    assertThat(one.seat()).isEqualTo(seat);
    work(Duration.ofSeconds(12));
    assertThat(nodes.getFirst().engine.fleet().seatOf("one")).isNull();
    one.extend();
    work(Duration.ofSeconds(3));
    assertThat(nodes.getFirst().engine.fleet().seatOf("one")).as("an extension gives a gone worker no seat").isNull();
  }

  @Test
  void anEntryForABusyWorkerBlocksNoOtherWorker() {
    Worker busy = new Worker("one", "fra", nodes.get(0));
    Worker idle = new Worker("two", "fra", nodes.get(0));
    work(UNTIL_SEATED);
    int seat = busy.seat();
    busy.takesALongTask();
    busy.polls = false;
    work(Duration.ofMillis(WAIT_MILLIS));
    busy.extend();
    submit(50, new Address(Address.Kind.ONLY, seat));
    submit(50, Address.ANYWHERE);
    work(Duration.ofSeconds(2));
    assertThat(idle.count(Address.Kind.ANY, 0)).isEqualTo(50);
    assertThat(idle.begun).hasSize(1);
    busy.polls = true;
    work(Duration.ofSeconds(2));
    assertThat(busy.count(Address.Kind.ONLY, seat)).isEqualTo(50);
  }

  @Test
  void anExtensionKeepsOnlyTheHolderOfTheLeaseAlive() {
    Worker one = new Worker("one", "fra", nodes.get(0));
    Worker dead = new Worker("dead", "fra", nodes.get(0));
    work(UNTIL_SEATED);
    one.takesALongTask();
    dead.polls = false;
    for (int i = 0; i < 6; i++) {
      work(Duration.ofMillis(LEASE_MILLIS / 3));
      assertThat(nodes.get(0).engine.extend(one.kept.id(), one.kept.token(), Duration.ofMillis(LEASE_MILLIS),
          TaskNote.NONE, WorkerId.of("dead"))).isNotNull();
    }
    assertThat(nodes.get(0).engine.fleet().seatOf("dead")).isNull();
  }

  @Test
  void theClaimOfACallerThatHasGoneEnds() {
    CompletableFuture<Object> gone = new CompletableFuture<>();
    CompletableFuture<Pulled> poll = nodes.get(0).engine.pull(
        new Pull(QUEUE, 10, WAIT_MILLIS, LEASE_MILLIS, "gone"), CompletableFuture.completedFuture(null), gone);
    cluster.advance(Duration.ofSeconds(1));
    assertThat(poll).isNotDone();
    gone.complete(null);
    Worker living = new Worker("living", "fra", nodes.get(0));
    submit(50, Address.ANYWHERE);
    work(Duration.ofSeconds(1));
    assertThat(poll.join().tasks()).isEmpty();
    assertThat(living.count(Address.Kind.ANY, 0)).isEqualTo(50);
  }
}
