package io.foliot.engine;

import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.SlotSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ParkingTest {
  private final LoopRig rig = new LoopRig();
  private final LeaseEnds leaseEnds = new LeaseEnds(rig.store, rig.lanes, rig.lookAhead, rig.inbox, rig.health,
      rig.meter, LoopRig.BATCH, new RoomGate(), rig.nowNanos);
  private final Parking parking = new Parking(rig.store, rig.registry, rig.lanes, rig.inbox, rig.health, rig.meter,
      leaseEnds, 2, LoopRig.BATCH, rig.nowNanos);

  private void pause(boolean paused) {
    rig.queue(QueueConfig.builder("q", Target.local()).paused(paused).build());
  }

  private DueEntry ready(int number) {
    DueEntry entry = entry(0, 10, number, "q");
    rig.lanes.ready(entry, rig.nowNanos);
    return entry;
  }

  @Test
  void entriesOfAPausedQueueAreParkedInBatches() {
    pause(true);
    DueEntry first = ready(1);
    DueEntry second = ready(2);
    DueEntry third = ready(3);
    parking.park(rig.nowNanos);
    parking.park(rig.nowNanos);
    LoopRig.Call call = rig.onlyCall("park");
    assertThat(call.<DueEntry>items()).containsExactly(first, second);
    rig.answer(call, List.of(true, false));
    assertThat(rig.lane("q").hasParked()).isTrue();
    parking.park(rig.nowNanos);
    assertThat(rig.onlyCall("park").<DueEntry>items()).containsExactly(third);
  }

  @Test
  void entriesOfAFailedCallAreParkedWhenFoundAgain() {
    pause(true);
    ready(1);
    parking.park(rig.nowNanos);
    rig.fail(rig.onlyCall("park"));
    rig.advance(20);
    parking.park(rig.nowNanos);
    assertThat(rig.calls).isEmpty();
    ready(1);
    parking.park(rig.nowNanos);
    assertThat(rig.calls).hasSize(1);
  }

  @Test
  void lanesWithRoomReadParkedEntries() {
    pause(false);
    rig.lane("q").parked();
    parking.readBack(rig.slots.watched(), rig.slots.share(), rig.nowNanos);
    parking.readBack(rig.slots.watched(), rig.slots.share(), rig.nowNanos);
    DueEntry entry = entry(0, 10, 1, "q");
    rig.answer(rig.onlyCall("parked"), List.of(entry));
    assertThat(rig.lanes.waiting()).isEqualTo(1);
    assertThat(rig.lanes.take(rig.lane("q"))).isEqualTo(entry);
  }

  @Test
  void aLaneReadsNoShortPagesOfParkedEntries() {
    int others = LoopRig.READY_ENTRIES / 2 / LoopRig.LANE_ENTRIES + 1;
    for (int i = 0; i < others * LoopRig.LANE_ENTRIES; i++) {
      String queue = "stalled" + i % others;
      rig.local(queue);
      rig.lanes.ready(entry(0, 10, i, queue), rig.nowNanos);
    }
    pause(false);
    Lane lane = rig.lane("q");
    assertThat(rig.lanes.room(lane)).as("the share of the lane, because the common pool is full").isEqualTo(7);
    Parking eager = new Parking(rig.store, rig.registry, rig.lanes, rig.inbox, rig.health, rig.meter,
        leaseEnds, 2, LoopRig.LANE_ENTRIES, rig.nowNanos);
    Deque<DueEntry> parked = new ArrayDeque<>();
    for (int i = 0; i < 100; i++) {
      parked.add(entry(1, 10, 10_000 + i, "q"));
    }
    int reads = 0;
    while (!parked.isEmpty()) {
      eager.readBack(rig.slots.watched(), rig.slots.share(), rig.nowNanos);
      if (!rig.calls.isEmpty()) {
        reads++;
        LoopRig.Call call = rig.onlyCall("parked");
        List<DueEntry> page = new ArrayList<>();
        for (int i = (int) call.arguments().getLast(); i > 0 && !parked.isEmpty(); i--) {
          page.add(parked.remove());
        }
        rig.answer(call, page);
      }
      assertThat(lane.waiting()).isBetween(1, 7);
      rig.lanes.leave(rig.lanes.take(lane));
    }
    assertThat(reads).isLessThanOrEqualTo(100 / 3);
  }

  @Test
  void theLoopWakesWhenParkedTasksAreToBeReadAgain() {
    pause(false);
    rig.lane("q").parked();
    assertThat(parking.waitNanos(rig.nowNanos)).as("a read is due").isZero();
    parking.readBack(rig.slots.watched(), rig.slots.share(), rig.nowNanos);
    assertThat(parking.waitNanos(rig.nowNanos)).as("the answer wakes the loop").isEqualTo(Long.MAX_VALUE);
    rig.answer(rig.onlyCall("parked"), List.of(entry(0, 10, 1, "q")));
    assertThat(parking.waitNanos(rig.nowNanos)).as("there may be more").isZero();
    parking.readBack(rig.slots.watched(), rig.slots.share(), rig.nowNanos);
    rig.answer(rig.onlyCall("parked"), List.of());
    assertThat(parking.waitNanos(rig.nowNanos)).as("the end was read").isEqualTo(100_000_000);
    rig.advance(99);
    assertThat(parking.waitNanos(rig.nowNanos)).isEqualTo(1_000_000);
    pause(true);
    assertThat(parking.waitNanos(rig.nowNanos)).as("a paused queue takes nothing").isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void queuesWithParkedTasksAreListedOnceASecond() {
    pause(false);
    assertThat(rig.lane("q").hasParked()).as("assumed until a list is read").isTrue();
    parking.listQueues(rig.slots.watched(), rig.slots.share(), rig.nowNanos);
    rig.answer(rig.onlyCall("parkedQueues"), Set.of("q"));
    rig.advance(999);
    parking.listQueues(rig.slots.watched(), rig.slots.share(), rig.nowNanos);
    assertThat(rig.calls).isEmpty();
    rig.advance(1);
    parking.listQueues(rig.slots.watched(), rig.slots.share(), rig.nowNanos);
    assertThat(rig.calls).hasSize(1);
    assertThat(rig.lane("q").hasParked()).isTrue();
  }

  @Test
  void aLoopReadsNoParkedEntriesOfOtherLoops() {
    pause(false);
    SlotSet share = slots(0, 2);
    rig.lane("q").parked();
    parking.readBack(slots(2), share, rig.nowNanos);
    assertThat(readSlots()).as("the slots of this node first").isEqualTo(slots(2));
    parking.readBack(slots(2), share, rig.nowNanos);
    assertThat(readSlots()).as("then those of other nodes").isEqualTo(share);
    parking.readBack(slots(), slots(), rig.nowNanos);
    assertThat(rig.calls).as("a loop without slots reads nothing").isEmpty();
  }

  private static SlotSet slots(int... some) {
    BitSet set = new BitSet();
    Arrays.stream(some).forEach(set::set);
    return SlotSet.of(LoopRig.SLOTS, set);
  }

  private SlotSet readSlots() {
    LoopRig.Call call = rig.onlyCall("parked");
    rig.answer(call, List.of());
    rig.advance(200);
    rig.lane("q").parked();
    return (SlotSet) call.arguments().get(1);
  }
}
