package io.foliot.engine;

import static io.foliot.engine.LoopRig.SLOTS;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.coordination.Assignment;
import io.foliot.core.store.SlotSet;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class WatchedSlotsTest {
  private final LoopRig rig = new LoopRig();
  private final WatchedSlots slots = rig.slots;

  private static SlotSet set(int... some) {
    BitSet bits = new BitSet();
    IntStream.of(some).forEach(bits::set);
    return SlotSet.of(SLOTS, bits);
  }

  private void own(int... some) {
    slots.own(set(some), Assignment.none(SLOTS), OverduePoll.Adoption.ENDING, rig.nowNanos);
  }

  private static List<Integer> members(SlotSet set) {
    return IntStream.range(0, set.slotCount()).filter(set::contains).boxed().toList();
  }

  @Test
  void addedSlotsAreReportedOnce() {
    own(0, 1);
    assertThat(rig.added).as("all slots were watched before").isEmpty();
    assertThat(slots.assignedCount()).isEqualTo(2);
    own(1, 2, 3);
    assertThat(rig.added).singleElement().satisfies(added -> assertThat(members(added)).containsExactly(2, 3));
    own(1, 2, 3);
    assertThat(rig.added).hasSize(1);
    assertThat(members(slots.watched())).containsExactly(1, 2, 3);
  }

  @Test
  void bothHalvesOfASplitSlotAreWatched() {
    own(1);
    slots.growTo(2 * SLOTS);
    assertThat(members(slots.watched())).containsExactly(1, 1 + SLOTS);
    assertThat(rig.added).isEmpty();
  }

  @Test
  void slotsOfOtherNodesArePolledAtMostOnceASecond() {
    slots.poll(rig.nowMillis(), rig.nowNanos + LoopRig.SECOND);
    assertThat(rig.calls).as("this node owns all slots").isEmpty();
    own(0);
    rig.nowNanos += LoopRig.SECOND;
    slots.poll(rig.nowMillis(), rig.nowNanos);
    slots.poll(rig.nowMillis(), rig.nowNanos);
    assertThat(rig.onlyCall("due").items()).hasSize(SLOTS - 1);
  }
}
