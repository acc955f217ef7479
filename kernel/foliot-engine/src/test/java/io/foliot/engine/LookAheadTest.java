package io.foliot.engine;

import static io.foliot.engine.LoopRig.SECOND;
import static io.foliot.engine.LoopRig.START_MILLIS;
import static io.foliot.engine.LoopRig.WINDOW_MILLIS;
import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LookAheadTest {
  private final LoopRig rig = new LoopRig();
  private final LookAhead lookAhead = rig.lookAhead;

  private void prefetch() {
    lookAhead.prefetch(rig.nowMillis(), rig.nowNanos);
  }

  private static List<DueSlice> slices(DueSlice... some) {
    List<DueSlice> all = new ArrayList<>(List.of(some));
    for (int slot = all.size(); slot < LoopRig.SLOTS; slot++) {
      all.add(new DueSlice(slot, List.of(), false));
    }
    return all;
  }

  private List<DueEntry> fired() {
    List<DueEntry> fired = new ArrayList<>();
    lookAhead.advance(rig.nowMillis(), 1_000, rig.nowNanos, fired::add);
    return fired;
  }

  @Test
  void entriesThatWereReadFireOnTime() {
    prefetch();
    DueEntry soon = entry(0, START_MILLIS + 10, 1, "q");
    rig.answer(rig.onlyCall("due"), slices(new DueSlice(0, List.of(soon), false)));
    assertThat(fired()).isEmpty();
    assertThat(lookAhead.waitNanos(rig.nowNanos)).isEqualTo(10 * LoopRig.MILLI);
    rig.advance(10);
    assertThat(fired()).containsExactly(soon);
    assertThat(lookAhead.waitNanos(rig.nowNanos)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void writtenEntriesAreAddedOnlyBehindTheCursor() {
    DueEntry inWindow = entry(0, START_MILLIS + 100, 1, "q");
    lookAhead.written(List.of(inWindow), rig.nowNanos);
    assertThat(lookAhead.size()).as("a later read will return the entry").isZero();
    prefetch();
    lookAhead.written(List.of(inWindow), rig.nowNanos);
    assertThat(lookAhead.size()).as("the read in progress may miss the entry").isEqualTo(1);
    lookAhead.written(List.of(entry(0, START_MILLIS + WINDOW_MILLIS + 1, 2, "q")), rig.nowNanos);
    assertThat(lookAhead.size()).isEqualTo(1);
  }

  @Test
  void theReadAfterAFullPageBeginsBehindItsLastEntry() {
    prefetch();
    DueEntry last = entry(0, START_MILLIS + 10, 1, "q");
    rig.answer(rig.onlyCall("due"), slices(new DueSlice(0, List.of(last), true)));
    rig.advance(49);
    prefetch();
    assertThat(rig.calls).isEmpty();
    rig.advance(1);
    prefetch();
    DueScan scan = rig.onlyCall("due").<DueScan>items().getFirst();
    assertThat(scan.slot()).isZero();
    assertThat(scan.fromWakeAt()).isEqualTo(last.wakeAt());
    assertThat(scan.after()).isEqualTo(last.id());
  }

  @Test
  void aFailedReadIsRepeatedFromItsStart() {
    prefetch();
    LoopRig.Call first = rig.onlyCall("due");
    List<DueScan> scans = first.items();
    rig.fail(first);
    rig.nowNanos += SECOND;
    prefetch();
    assertThat(rig.onlyCall("due").<DueScan>items()).hasSameSizeAs(scans)
        .allSatisfy(scan -> assertThat(scan.fromWakeAt()).isEqualTo(START_MILLIS));
  }

  @Test
  void aClockThatStepsBackEmptiesTheWheel() {
    prefetch();
    rig.answer(rig.onlyCall("due"), slices(new DueSlice(0, List.of(entry(0, START_MILLIS + 10, 1, "q")), false)));
    lookAhead.advance(START_MILLIS - 999, 10, rig.nowNanos, due -> {});
    assertThat(lookAhead.size()).as("a step of less than a second").isEqualTo(1);
    lookAhead.advance(START_MILLIS - 60_000, 10, rig.nowNanos, due -> {});
    assertThat(lookAhead.size()).isZero();
    lookAhead.prefetch(START_MILLIS - 60_000, rig.nowNanos);
    assertThat(rig.onlyCall("due").<DueScan>items())
        .allSatisfy(scan -> assertThat(scan.fromWakeAt()).isEqualTo(START_MILLIS - 60_000));
  }

  @Test
  void aReadFromBeforeAStepBackDoesNotMoveTheCursors() {
    prefetch();
    LoopRig.Call early = rig.onlyCall("due");
    lookAhead.advance(START_MILLIS - 60_000, 10, rig.nowNanos, due -> {});
    rig.answer(early, slices(new DueSlice(0, List.of(entry(0, START_MILLIS + 10, 1, "q")), false)));
    rig.nowNanos += SECOND;
    lookAhead.prefetch(START_MILLIS - 59_000, rig.nowNanos);
    assertThat(rig.onlyCall("due").<DueScan>items()).hasSize(LoopRig.SLOTS)
        .allSatisfy(scan -> assertThat(scan.fromWakeAt()).isEqualTo(START_MILLIS - 60_000));
  }

  @Test
  void anEntryScheduledAgainIsNeverPlacedInAPastTick() {
    prefetch();
    fired();
    DueEntry past = entry(1, START_MILLIS - 5, 1, "q");
    lookAhead.scheduleAgain(past.id(), "q", past.wakeAt(), rig.nowNanos);
    assertThat(fired()).isEmpty();
    rig.advance(1);
    assertThat(fired()).singleElement().satisfies(entry -> assertThat(entry.id()).isEqualTo(past.id()));
  }
}
