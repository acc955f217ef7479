package io.foliot.engine;

import static io.foliot.engine.LoopRig.START_MILLIS;
import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler.ClusterNode;
import io.foliot.core.Scheduler.ClusterStatus;
import io.foliot.core.Scheduler.LaneStatus;
import io.foliot.core.Scheduler.QueueStatus;
import io.foliot.core.Unready;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreSeal;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NodeStatusTest {
  private static final Assignment HALVES = Assignment.of(Arrays.asList("n1", "n1", "n2", "n2"));

  private final LoopRig rig = new LoopRig();
  private final RecordedCoordinator coordinator = new RecordedCoordinator();
  private final EngineOptions options = rig.options.toBuilder().zone("east").loops(2).build();
  private final LoopGroup loops = new LoopGroup(2, LoopRig.SLOTS,
      (index, share) -> rig.loop(options, coordinator, share));
  private final ParkedHeads parked = new ParkedHeads(rig.store, rig.inbox);
  private final CallGate gate = new CallGate(() -> false);
  private final Membership membership = new Membership(options, rig.store, rig.nodeClock, coordinator, loops);
  private final NodeStatus status = new NodeStatus(options, rig.environment(coordinator), rig.registry, loops, parked,
      membership, gate);

  private List<Unready> unready() {
    assertThat(status.engine().ready()).isEqualTo(status.engine().unready().isEmpty());
    return status.engine().unready();
  }

  private void becomeReady() {
    gate.open();
    rig.turn(loops);
    assertThat(unready()).isEmpty();
  }

  private static DueEntry overdue(int slot, int millis, String queue) {
    return entry(slot, START_MILLIS - millis, millis, queue);
  }

  private void pull(String queue) {
    rig.queue(QueueConfig.of(queue, Target.pull()));
  }

  @Test
  void aNodeIsReadyFromItsStartToItsStop() {
    rig.turn(loops);
    assertThat(unready()).containsExactly(new Unready.NotStarted());
    gate.open();
    assertThat(unready()).isEmpty();
    gate.stop();
    assertThat(unready()).containsExactly(new Unready.Stopping());
  }

  @Test
  void aNodeThatIsStoppedBeforeItsStartIsStopping() {
    gate.stop();
    assertThat(unready()).containsExactly(new Unready.Stopping());
  }

  @Test
  void theFailureOfTheEngineIsTheOnlyReason() {
    becomeReady();
    gate.seal(StoreSeal.of(StoreSeal.State.MOVED, "another store"));
    gate.stop();
    Throwable cause = new AssertionError("expected");
    gate.fail(cause);
    assertThat(unready()).containsExactly(new Unready.Failed(cause));
  }

  @Test
  void aSealedStoreIsAReasonBesideOthers() {
    becomeReady();
    StoreSeal seal = StoreSeal.of(StoreSeal.State.DRAINING, "another store");
    gate.seal(seal);
    assertThat(unready()).containsExactly(new Unready.Sealed(seal));
    failStoreCalls();
    assertThat(unready()).containsExactly(new Unready.Sealed(seal), new Unready.StoreAway());
    gate.seal(null);
    assertThat(unready()).containsExactly(new Unready.StoreAway());
  }

  private void failStoreCalls() {
    rig.advance(1_000);
    loops.forEach(EngineLoop::turn);
    assertThat(rig.calls).isNotEmpty();
    List.copyOf(rig.calls).forEach(rig::fail);
    rig.calls.clear();
    rig.advance(250);
    loops.forEach(EngineLoop::turn);
  }

  @Test
  void anUnavailableStoreIsOneReasonForAllLoops() {
    gate.open();
    assertThat(unready()).as("the store has not answered yet").containsExactly(new Unready.StoreAway());
    rig.turn(loops);
    assertThat(unready()).isEmpty();
    failStoreCalls();
    assertThat(unready()).containsExactly(new Unready.StoreAway());
  }

  @Test
  void aLoopThatDoesNotTurnIsNamed() {
    becomeReady();
    rig.advance(2_000);
    loops.get(0).turn();
    rig.answerAll();
    rig.advance(1_000);
    assertThat(unready()).as("three seconds are allowed").isEmpty();
    rig.advance(1);
    assertThat(unready()).containsExactly(new Unready.LoopStalled(1, 3_001));
    loops.get(1).turn();
    assertThat(unready()).isEmpty();
  }

  @Test
  void theStoreHealthOfAStalledLoopDoesNotCount() {
    becomeReady();
    failStoreCalls();
    rig.advance(3_001);
    assertThat(unready()).containsExactly(new Unready.LoopStalled(0, 3_001), new Unready.LoopStalled(1, 3_001));
  }

  @Test
  void lanesOfAQueueAreSummedOverAllLoops() {
    pull("a");
    pull("b");
    rig.turn(loops, overdue(0, 1_000, "b"), overdue(1, 3_000, "b"), overdue(2, 2_000, "b"), overdue(3, 500, "a"));
    // The turn advances the time by 250 ms.
    assertThat(status.engine().lanes()).extracting(LaneStatus::queue, LaneStatus::waiting, LaneStatus::oldestDueMillis)
        .containsExactly(tuple("a", 1, 750L),
            tuple("b", 3, 3_250L));
    assertThat(status.engine().oldestDueMillis()).isEqualTo(3_250);
  }

  @Test
  void wheelEntriesAreSummedOverAllLoops() {
    rig.turn(loops, entry(0, START_MILLIS + 3_000, 1, "a"), entry(1, START_MILLIS + 3_000, 2, "a"),
        entry(3, START_MILLIS + 3_000, 3, "a"));
    assertThat(status.engine().wheelEntries()).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource({"30000, 20000, 10000", "10000, 30000, 20000", "20000, 10000, 30000"})
  void theLagIsThatOfTheOldestTaskInAnyPlace(int parkedMillis, int laneMillis, int elsewhereMillis) {
    pull("q");
    pull("idle");
    // This worker's poll asks for 0 tasks, so due tasks stay in the lane.
    rig.registry.shared("q").longPolls()
        .add(new LongPollQueue.Waiter(WorkerId.ANONYMOUS, 0, 1_000, rig.nowNanos, rig.nowNanos + 100_000_000_000L,
            CompletableFuture.completedFuture(null)));
    SlotSet mine = SlotSet.of(LoopRig.SLOTS, HALVES.slotsOf("n1"));
    loops.own(mine, HALVES, OverduePoll.Adoption.ENDING);
    DueEntry inLane = overdue(0, laneMillis, "q");
    DueEntry elsewhere = overdue(3, elsewhereMillis, "q");
    rig.turn(loops, inLane, elsewhere);
    rig.answerAll(inLane, elsewhere);
    // After 750 ms more, the first overdue poll of the slots of n2 is due. There must be no second overdue poll: it
    // would take the entries that the first has found.
    rig.advance(750);
    rig.turn(loops, inLane, elsewhere);
    // The calls above have advanced the time by 1,250 ms.
    assertThat(lag("q")).isEqualTo(Duration.ofMillis(Math.max(laneMillis, elsewhereMillis) + 1_250));
    rig.answerAll(inLane, elsewhere);
    parked.turn();
    rig.answer(rig.onlyCall("parkedQueues"), Set.of("q"));
    rig.answer(rig.onlyCall("parked"), List.of(overdue(2, parkedMillis, "q")));
    assertThat(lag("q")).isEqualTo(Duration.ofMillis(30_000 + 1_250));
    assertThat(lag("idle")).isZero();
    assertThat(status.engine().oldestDueMillis()).isEqualTo(30_000 + 1_250);
  }

  private Duration lag(String queue) {
    return status.queues(Map.of()).stream().filter(one -> one.queue().name().equals(queue)).map(QueueStatus::lag)
        .findAny().orElseThrow();
  }

  @Test
  void queuesAreListedByNameWithTheirCounts() {
    pull("b");
    pull("a");
    QueueCounts counts = new QueueCounts(1, 0, 2, 0, 0, 0);
    assertThat(status.queues(Map.of("b", counts, "unknown", counts)))
        .extracting(one -> one.queue().name(), QueueStatus::counts)
        .containsExactly(tuple("a", QueueCounts.NONE), tuple("b", counts));
  }

  @Test
  void clusterStatusComesFromTheMembership() {
    membership.join();
    coordinator.report(RecordedCoordinator.connected(HALVES.encode(), "n2", "n1", "n2"));
    rig.turn(loops);
    assertThat(status.cluster()).isEqualTo(new ClusterStatus("n1", "east", "n2",
        List.of(new ClusterNode("n1", "", 2, true, 0), new ClusterNode("n2", "", 2, true, 0)), LoopRig.SLOTS, 2,
        "recorded", rig.durability, "recorded", 0));
  }
}
