package io.foliot.engine;

import static io.foliot.engine.LoopRig.START_MILLIS;
import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.SlotSet;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class LoopGroupTest {
  private final LoopRig rig = new LoopRig();
  private final List<SlotSet> shares = new ArrayList<>();

  private LoopGroup group(int loops, int slotCount) {
    shares.clear();
    return new LoopGroup(loops, slotCount, (index, share) -> {
      assertThat(index).isEqualTo(shares.size());
      shares.add(share);
      return rig.loop(rig.options.toBuilder().loops(loops).build(), new RecordedCoordinator(), share);
    });
  }

  private static int loopIndexOf(LoopGroup group, TaskId id) {
    return IntStream.range(0, group.size()).filter(i -> group.get(i) == group.loopOf(id)).findFirst().orElseThrow();
  }

  @Test
  void aTaskStaysOnItsLoopWhenTheSlotsAreDoubled() {
    SplittableRandom random = new SplittableRandom(3);
    for (int loops : new int[]{1, 2, 3, 5}) {
      for (int slotCount : new int[]{1, 4, 16}) {
        LoopGroup group = group(loops, slotCount);
        List<SlotSet> current = List.copyOf(shares);
        for (int doublings = 0; doublings < 4; doublings++) {
          for (int i = 0; i < 200; i++) {
            TaskId id = TaskId.of(i, random.nextInt(1 << 16), random.nextLong());
            assertThat(current).as("slots=%d", slotCount << doublings).filteredOn(share -> share.contains(id))
                .singleElement().isSameAs(current.get(loopIndexOf(group, id)));
          }
          current = current.stream().map(SlotSet::doubled).toList();
        }
      }
    }
  }

  @Test
  void aWriteReachesTheLoopsOfItsTasksOnly() {
    LoopGroup group = group(2, LoopRig.SLOTS);
    rig.turn(group);
    List<DueEntry> first = List.of(entry(0, START_MILLIS + 2_000, 1, "q"), entry(2, START_MILLIS + 2_000, 2, "q"));
    group.written(first);
    assertThat(group.get(1).inbox().isEmpty()).isTrue();
    group.written(List.of(entry(0, START_MILLIS + 2_000, 3, "q"), entry(3, START_MILLIS + 2_000, 4, "q")));
    rig.advance(250);
    group.forEach(EngineLoop::turn);
    assertThat(group.statuses()).extracting(LoopStatus::wheelEntries).containsExactly(3, 1);
  }

  @Test
  void anEmptyWriteWakesNoLoop() {
    for (int loops : new int[]{1, 2}) {
      LoopGroup group = group(loops, LoopRig.SLOTS);
      group.written(List.of());
      group.forEach(loop -> assertThat(loop.inbox().isEmpty()).isTrue());
    }
  }

  @Test
  void aSoleLoopTakesEachWrite() {
    LoopGroup group = group(1, LoopRig.SLOTS);
    rig.turn(group);
    group.written(List.of(entry(1, START_MILLIS + 2_000, 1, "q"), entry(2, START_MILLIS + 2_000, 2, "q")));
    rig.advance(250);
    group.forEach(EngineLoop::turn);
    assertThat(group.statuses()).extracting(LoopStatus::wheelEntries).containsExactly(2);
  }

  @Test
  void ownedSlotsAreThoseOfAllLoops() {
    LoopGroup group = group(2, LoopRig.SLOTS);
    assertThat(group.ownedSlots()).as("all slots, before any assignment").isEqualTo(4);
    BitSet owned = new BitSet();
    owned.set(0, 3);
    group.own(SlotSet.of(LoopRig.SLOTS, owned), Assignment.none(LoopRig.SLOTS), OverduePoll.Adoption.FORBIDDEN);
    rig.turn(group);
    assertThat(group.ownedSlots()).isEqualTo(3);
    rig.slotCount = 2 * LoopRig.SLOTS;
    rig.turn(group);
    assertThat(group.ownedSlots()).as("the store has doubled its slots").isEqualTo(6);
  }

  @Test
  void clocksAreMeasuredWhenEachLoopHasAnAnswer() {
    LoopGroup group = group(2, LoopRig.SLOTS);
    CompletableFuture<Void> measured = group.measureClocks();
    assertThat(rig.calls).extracting(LoopRig.Call::name).containsExactly("timeMicros", "timeMicros");
    rig.fail(rig.calls.removeLast());
    assertThat(measured).isNotDone();
    rig.advance(1);
    rig.answer(rig.calls.removeFirst(), (START_MILLIS + 500) * 1_000);
    assertThat(measured).as("a failure is an answer").isCompletedExceptionally();
    assertThat(group.storeMillis()).as("measured by the first loop").isEqualTo(START_MILLIS + 500);
  }

  @Test
  void aDrainEndsWhenEachLoopIsDrained() {
    LoopGroup group = group(2, LoopRig.SLOTS);
    CompletableFuture<Boolean> drained = group.drain(0, LoopRig.SECOND);
    group.get(0).turn();
    assertThat(drained).isNotDone();
    group.get(1).turn();
    assertThat(drained).isCompletedWithValue(true);
  }

  @Test
  void aDrainFailsIfOneLoopIsNotDrainedInTime() {
    rig.local("q");
    LoopGroup group = group(2, LoopRig.SLOTS);
    // The claim of this entry is never answered.
    DueEntry late = entry(1, START_MILLIS - 100, 1, "q");
    group.forEach(EngineLoop::turn);
    rig.answerAll(late);
    group.forEach(EngineLoop::turn);
    assertThat(rig.calls).extracting(LoopRig.Call::name).contains("claim");
    CompletableFuture<Boolean> drained = group.drain(0, LoopRig.SECOND);
    group.forEach(EngineLoop::turn);
    assertThat(drained).isNotDone();
    rig.advance(1_000);
    group.forEach(EngineLoop::turn);
    assertThat(drained).isCompletedWithValue(false);
  }

  @Test
  void aLoopThatDiesEndsTheDrain() {
    LoopGroup group = group(2, LoopRig.SLOTS);
    CompletableFuture<Boolean> drained = group.drain(0, LoopRig.SECOND);
    group.get(0).turn();
    group.get(1).died(new AssertionError("expected"));
    assertThat(drained).isCompletedWithValue(false);
  }
}
