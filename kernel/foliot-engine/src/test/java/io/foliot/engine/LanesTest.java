package io.foliot.engine;

import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.DueEntry;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class LanesTest {
  private final LoopRig rig = new LoopRig();
  private final Lanes lanes = rig.lanes;

  private DueEntry ready(int number, String queue) {
    DueEntry entry = entry(0, 10, number, queue);
    lanes.ready(entry, rig.nowNanos);
    return entry;
  }

  private void fill(String queue) {
    for (int i = 0; i < LoopRig.LANE_ENTRIES; i++) {
      ready(i, queue);
    }
    assertThat(rig.lane(queue).hasRoom()).isFalse();
  }

  /** Makes a lane stalled: no entry leaves it for a second. */
  private void stall(String queue) {
    rig.lane(queue).sampleFlow(rig.nowNanos);
    rig.advance(1_000);
    rig.lane(queue).sampleFlow(rig.nowNanos);
  }

  @Test
  void anIdWaitsOnce() {
    rig.local("q");
    ready(1, "q");
    ready(1, "q");
    assertThat(lanes.waiting()).isEqualTo(1);
    DueEntry taken = lanes.take(rig.lane("q"));
    ready(1, "q");
    assertThat(lanes.waiting()).as("an entry inside a call is not added again").isZero();
    lanes.forget(taken);
    ready(1, "q");
    assertThat(lanes.waiting()).isEqualTo(1);
  }

  @Test
  void fullLanesThatFlowLetEntriesGo() {
    rig.local("q");
    fill("q");
    assertThat(lanes.isFlowing()).as("the lane was empty a moment ago").isTrue();
    ready(100, "q");
    assertThat(lanes.letGo()).isEqualTo(1);
    assertThat(lanes.hasOverflow()).isFalse();
  }

  @Test
  void stalledLanesLeaveRoomToEachOtherLane() {
    int stalled = LoopRig.READY_ENTRIES / LoopRig.LANE_ENTRIES + 1;
    for (int i = 0; i < stalled; i++) {
      rig.local("stalled" + i);
      rig.lane("stalled" + i);
    }
    for (int i = 0; i < stalled * LoopRig.LANE_ENTRIES; i++) {
      ready(i, "stalled" + i % stalled);
    }
    assertThat(lanes.waiting()).isBetween(LoopRig.READY_ENTRIES / 2, LoopRig.READY_ENTRIES);
    rig.local("healthy");
    DueEntry entry = ready(10_000, "healthy");
    assertThat(rig.lane("healthy").waiting()).isEqualTo(1);
    assertThat(lanes.room(rig.lane("healthy"))).as("room for parked entries").isPositive();
    lanes.putBack(rig.lane("healthy"), lanes.take(rig.lane("healthy")));
    assertThat(lanes.take(rig.lane("healthy"))).isEqualTo(entry);
  }

  @Test
  void anOverflowThatIsFullLeavesEntriesInTheIndex() {
    rig.queue(QueueConfig.builder("q", Target.local()).paused(true).build());
    for (int i = 0; i < LoopRig.READY_ENTRIES; i++) {
      ready(i, "q");
    }
    assertThat(lanes.isOverflowFull()).isTrue();
    DueEntry more = ready(LoopRig.READY_ENTRIES, "q");
    assertThat(lanes.takeOverflow(Integer.MAX_VALUE, rig.nowNanos)).hasSize(LoopRig.READY_ENTRIES)
        .doesNotContain(more);
    assertThat(lanes.found(more, rig.nowNanos)).as("found again when there is room").isTrue();
  }

  @Test
  void fullLanesThatAreStalledOverflow() {
    rig.local("q");
    fill("q");
    stall("q");
    DueEntry more = ready(100, "q");
    assertThat(lanes.letGo()).isZero();
    assertThat(lanes.takeOverflow(10, rig.nowNanos)).containsExactly(more);
  }

  @Test
  void overflowGoesToItsLaneWhenThereIsRoom() {
    rig.local("q");
    fill("q");
    stall("q");
    ready(100, "q");
    lanes.take(rig.lane("q"));
    assertThat(lanes.takeOverflow(10, rig.nowNanos)).isEmpty();
    assertThat(lanes.waiting()).isEqualTo(LoopRig.LANE_ENTRIES);
  }

  @Test
  void entriesOfPausedQueuesGoToTheOverflow() {
    rig.local("q");
    DueEntry entry = ready(1, "q");
    rig.queue(QueueConfig.builder("q", Target.local()).paused(true).build());
    assertThat(lanes.waiting()).isZero();
    assertThat(lanes.takeOverflow(10, rig.nowNanos)).containsExactly(entry);
  }

  @Test
  void aQueueThatIsNoLongerPulledDrainsItsLaneAndAnswersItsWorkers() {
    rig.queue(QueueConfig.of("q", Target.pull()));
    Fleet.Seat seat = new Fleet.Seat(7, "w", "fra", Set.of("q"), "n1", true, true);
    rig.registry.seat(Seating.of(new Fleet(List.of(seat), List.of("fra")), "n1"));
    lanes.followFleet();
    Lane lane = rig.lane("q");
    LongPollQueue.Waiter waiter = new LongPollQueue.Waiter(WorkerId.of("other"), 1, 1_000, rig.nowNanos, Long.MAX_VALUE,
        CompletableFuture.completedFuture(null));
    lane.longPolls().add(waiter);
    DueEntry addressed = new DueEntry(10, TaskId.addressed(10, 0, new Address(Address.Kind.SEAT, 7), 0, 1), "q");
    lanes.ready(addressed, rig.nowNanos);
    assertThat(lanes.takeForWorker(lane)).as("the entry waits for another worker").isNull();
    assertThat(lane.claimable()).isOne();

    rig.local("q");
    assertThat(waiter.answer()).isCompleted();
    assertThat(lane.waiting()).isZero();
    assertThat(lanes.takeOverflow(10, rig.nowNanos)).as("to be parked: no handler of this node has the address")
        .containsExactly(addressed);
  }

  @Test
  void entriesThatWaitForAMoveDoNotEnterALane() {
    rig.local("q");
    DueEntry entry = entry(0, 10, 1, "q");
    rig.moves.add(entry, rig.nowMillis() + 1_000, rig.nowNanos);
    lanes.ready(entry, rig.nowNanos);
    assertThat(lanes.waiting()).isZero();
  }

  @Test
  void entriesReadBeforeTheyLeftDoNotComeBack() {
    rig.local("q");
    DueEntry entry = ready(1, "q");
    rig.reads.read(List.of(), (slices, failure, nowNanos) -> {});
    lanes.leave(lanes.take(rig.lane("q")));
    assertThat(lanes.found(entry, rig.nowNanos)).isFalse();
    rig.answer(rig.onlyCall("due"), List.of());
    assertThat(lanes.found(entry, rig.nowNanos)).as("a read that began later").isTrue();
  }

  @Test
  void handlersThatThrowForgetTheirEntries() {
    rig.local("q");
    ready(1, "q");
    DueEntry taken = lanes.take(rig.lane("q"));
    CallPipe.Handler<String> handler = lanes.orForget(List.of(taken), (results, nowNanos) -> {
      throw new IllegalStateException("injected");
    });
    assertThatThrownBy(() -> handler.answered(List.of(""), rig.nowNanos)).hasMessage("injected");
    ready(1, "q");
    assertThat(lanes.waiting()).isEqualTo(1);
  }

  @Test
  void lanesTakeTurns() {
    rig.lane("a");
    rig.lane("b");
    assertThat(lanes.inTurn(0).name()).isEqualTo("a");
    lanes.rotate();
    assertThat(lanes.inTurn(0).name()).isEqualTo("b");
    assertThat(lanes.inTurn(1).name()).isEqualTo("a");
  }
}
