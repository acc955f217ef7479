package io.foliot.engine;

import static io.foliot.engine.LoopRig.SECOND;
import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class HeadPollsTest {
  private final LoopRig rig = new LoopRig();
  private final Drain drain = new Drain();
  private final HeadPolls polls = new HeadPolls(rig.reads, rig.health, rig.lanes, rig.slots, drain, rig.meter,
      LoopRig.LANE_ENTRIES, rig.nowNanos);

  private void turn() {
    polls.turn(rig.nowMillis(), rig.nowNanos);
  }

  /** Runs a turn. Returns how far back the latest poll reads, in ms; MAX_VALUE for the full poll, which reads all. */
  private long begins() {
    turn();
    long from = rig.calls.getLast().<DueScan>items().getFirst().fromWakeAt();
    return from == Long.MIN_VALUE ? Long.MAX_VALUE : rig.nowMillis() - from;
  }

  private void answer(int slot, DueEntry... entries) {
    List<DueSlice> slices = new ArrayList<>();
    for (DueScan scan : rig.calls.getFirst().<DueScan>items()) {
      slices.add(new DueSlice(scan.slot(), scan.slot() == slot ? List.of(entries) : List.of(), false));
    }
    rig.answer(rig.calls.removeFirst(), slices);
  }

  @Test
  void eachPollRunsInItsTurn() {
    assertThat(begins()).as("the full poll is the first").isEqualTo(Long.MAX_VALUE);
    rig.advance(500);
    turn();
    assertThat(rig.calls).as("the other polls wait: they would read the same entries").hasSize(1);
    assertThat(polls.waitNanos(rig.nowNanos)).isEqualTo(Long.MAX_VALUE);
    answer(0);
    assertThat(begins()).isEqualTo(60_000);
    answer(0);
    assertThat(begins()).isEqualTo(2_000);
    answer(0);
    assertThat(polls.waitNanos(rig.nowNanos)).isEqualTo(100 * LoopRig.MILLI);
    rig.advance(100);
    assertThat(begins()).isEqualTo(2_000);
  }

  @Test
  void aSlowPollPausesTwentyTimesItsDuration() {
    begins();
    rig.advance(2_000);
    answer(0);
    rig.advance(20 * 2_000 - 1);
    assertThat(begins()).isNotEqualTo(Long.MAX_VALUE);
    answer(0);
    rig.advance(1);
    assertThat(begins()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void tasksThatAreFoundLateAreMetered() {
    rig.local("q");
    begins();
    answer(1, entry(1, rig.nowMillis() - 1_000, 1, "q"), entry(1, rig.nowMillis() - 999, 2, "q"));
    assertThat(rig.lanes.waiting()).isEqualTo(2);
    assertThat(rig.foundLate).containsExactly("q");
  }

  @Test
  void aPollReadsOnUntilNoEntryIsLeft() {
    rig.local("q");
    begins();
    DueEntry last = entry(2, 10, 1, "q");
    rig.answer(rig.calls.removeFirst(), List.of(new DueSlice(2, List.of(last), true)));
    assertThat(rig.calls).singleElement().satisfies(call -> assertThat(call.<DueScan>items()).singleElement()
        .satisfies(scan -> assertThat(scan.after()).isEqualTo(last.id())));
  }

  @Test
  void theFullPollStopsWhenTheLanesAreFullAndRunsAgain() {
    rig.local("q");
    begins();
    DueEntry[] many = new DueEntry[LoopRig.LANE_ENTRIES + 1];
    for (int i = 0; i < many.length; i++) {
      many[i] = entry(0, 10, i, "q");
    }
    rig.answer(rig.calls.removeFirst(), List.of(new DueSlice(0, List.of(many), true)));
    assertThat(rig.lanes.letGo()).isEqualTo(1);
    assertThat(rig.calls).as("there is no room").isEmpty();
    for (int i = 0; i < LoopRig.LANE_ENTRIES; i++) {
      rig.lanes.leave(rig.lanes.take(rig.lane("q")));
    }
    assertThat(begins()).as("there is room again").isEqualTo(Long.MAX_VALUE);
  }

  /** Finds more due entries of a paused queue than the overflow holds. */
  private void overflow() {
    rig.queue(QueueConfig.builder("paused", Target.local()).paused(true).build());
    DueEntry[] many = new DueEntry[LoopRig.READY_ENTRIES + 1];
    for (int i = 0; i < many.length; i++) {
      many[i] = entry(0, 10, i, "paused");
    }
    rig.answer(rig.calls.removeFirst(), List.of(new DueSlice(0, List.of(many), true)));
    assertThat(rig.calls).as("the overflow is full").isEmpty();
  }

  /** Parks entries of the overflow. */
  private void park(int entries) {
    rig.lanes.takeOverflow(entries, rig.nowNanos).forEach(rig.lanes::leave);
  }

  /**
   * Answers each poll that begins within {@code millis} with the same entries. Returns how many of these were full
   * polls.
   */
  private int fullPolls(long millis, Runnable eachMillisecond, DueEntry... entries) {
    int full = 0;
    for (int i = 0; i < millis; i++) {
      eachMillisecond.run();
      turn();
      while (!rig.calls.isEmpty()) {
        full += rig.calls.getFirst().<DueScan>items().getFirst().fromWakeAt() == Long.MIN_VALUE ? 1 : 0;
        answer(0, entries);
      }
      rig.advance(1);
    }
    return full;
  }

  @Test
  void entriesForWhichTheOverflowHadNoRoomAreReadWhenItHasRoom() {
    begins();
    overflow();
    park(LoopRig.READY_ENTRIES / 2 - 1);
    assertThat(fullPolls(50, () -> {})).as("more than half of the overflow waits to be parked").isZero();
    park(1);
    assertThat(fullPolls(50, () -> {})).isOne();
  }

  @Test
  void fullPollsRunOnceASecondWhileTheStoreDoesNotPark() {
    begins();
    overflow();
    DueEntry more = entry(0, 10, LoopRig.READY_ENTRIES, "paused");
    assertThat(fullPolls(5_000, () -> {}, more)).isEqualTo(4);
  }

  @Test
  void fullPollsPauseIfOneLaneIsStalledAndAnotherFlows() {
    rig.local("stalled");
    rig.lanes.ready(entry(1, 10, 0, "stalled"), rig.nowNanos);
    rig.local("flows");
    Lane flows = rig.lane("flows");
    DueEntry[] many = new DueEntry[2 * LoopRig.LANE_ENTRIES];
    for (int i = 0; i < many.length; i++) {
      many[i] = entry(0, 10, i, "flows");
    }
    Runnable claim = () -> {
      if (flows.waiting() > 0) {
        rig.lanes.forget(rig.lanes.take(flows));
      }
      rig.lane("stalled").sampleFlow(rig.nowNanos);
      flows.sampleFlow(rig.nowNanos);
    };
    fullPolls(1_000, claim, many);
    assertThat(rig.lane("stalled").isFlowing()).isFalse();
    int polls = fullPolls(1_000, claim, many);
    assertThat(flows.isFlowing()).isTrue();
    assertThat(polls).isBetween(20, 50);
  }

  @Test
  void recentPollsReadPastEntriesForWhichTheOverflowHasNoRoom() {
    rig.local("q");
    begins();
    overflow();
    rig.advance(100);
    assertThat(begins()).as("the poll of the last minute").isEqualTo(60_000);
    DueEntry more = entry(0, 10, LoopRig.READY_ENTRIES, "paused");
    rig.answer(rig.calls.removeFirst(), List.of(new DueSlice(0, List.of(more), true)));
    answer(0, entry(0, 10, LoopRig.READY_ENTRIES + 1, "q"));
    assertThat(rig.lane("q").waiting()).isOne();
  }

  @Test
  void afterOutagesTheFullPollRunsAtMostOnceASecond() {
    begins();
    answer(0);
    rig.advance(300);
    polls.storeIsBack(rig.nowNanos);
    rig.advance(699);
    assertThat(begins()).isNotEqualTo(Long.MAX_VALUE);
    answer(0);
    rig.advance(1);
    assertThat(begins()).isEqualTo(Long.MAX_VALUE);
    answer(0);
    rig.nowNanos += 2 * SECOND;
    polls.storeIsBack(rig.nowNanos);
    assertThat(begins()).as("a second has passed").isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aRequestDuringAFullPollCausesAnother() {
    begins();
    polls.pollAll(rig.nowNanos);
    rig.advance(30);
    answer(0);
    assertThat(begins()).as("slots were added during the poll").isEqualTo(Long.MAX_VALUE);
    answer(0);
    rig.advance(100);
    assertThat(begins()).as("one request causes one poll").isNotEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aPollWhoseAnswerEndsAnOutageRunsAgain() {
    begins();
    rig.advance(90_000);
    polls.storeIsBack(rig.nowNanos);
    answer(0);
    assertThat(begins()).as("tasks came due after the poll began").isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aPollThatBeganBeforeADrainReadsNoFurther() {
    rig.local("q");
    begins();
    drain.begin(new CompletableFuture<>(), 0, 0, rig.nowNanos);
    assertThat(drain.isClaiming(rig.nowNanos)).isFalse();
    rig.answer(rig.calls.removeFirst(), List.of(new DueSlice(2, List.of(entry(2, 10, 1, "q")), true)));
    assertThat(rig.calls).isEmpty();
  }
}
