package io.foliot.engine;

import static io.foliot.engine.LoopRig.START_MILLIS;
import static io.foliot.engine.LoopRig.claimed;
import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.TaskId;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Probed;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class PostponedTest {
  private static final long LATER = START_MILLIS + 1_000;

  private final LoopRig rig = new LoopRig();
  private final Postponed postponed = postponed(rig.moves);

  private Postponed postponed(Moves moves) {
    return new Postponed(rig.store, rig.clock, rig.lanes, rig.lookAhead, rig.reads, moves, rig.inbox, rig.health);
  }

  @BeforeEach
  void mostEntriesArePostponed() {
    rig.local("q");
    mostAreLater("q");
    // From here on, entries due within the look-ahead are added to the wheel.
    rig.lookAhead.prefetch(rig.nowMillis(), rig.nowNanos);
    rig.answerAll();
  }

  /** Records that the latest 16 claimed entries of the queue were postponed. */
  private void mostAreLater(String queue) {
    for (int i = 0; i < 16; i++) {
      rig.lane(queue).judged(true);
    }
  }

  private DueEntry ready(int number) {
    DueEntry entry = entry(number % LoopRig.SLOTS, START_MILLIS, number, "q");
    rig.lanes.ready(entry, rig.nowNanos);
    return entry;
  }

  private LoopRig.Call probe() {
    postponed.probe(rig.nowNanos);
    return rig.onlyCall("probe");
  }

  private LoopRig.Call move() {
    postponed.move(rig.nowNanos);
    return rig.onlyCall("claim");
  }

  /** Begins a read of the index. Its answer may contain entries that leave the index before the answer arrives. */
  private LoopRig.Call read() {
    rig.reads.read(List.of(), (slices, failure, nowNanos) -> {});
    return rig.onlyCall("due");
  }

  /** Returns the answer to a probe of an entry at START_MILLIS whose task is due at {@code dueAt}. */
  private static Probed dueAt(long dueAt) {
    return new Probed(dueAt, START_MILLIS);
  }

  private List<DueEntry> taken() {
    List<DueEntry> taken = new ArrayList<>();
    while (rig.lane("q").claimable() > 0) {
      taken.add(rig.lanes.take(rig.lane("q")));
    }
    return taken;
  }

  private List<TaskId> fired() {
    List<TaskId> fired = new ArrayList<>();
    rig.lookAhead.advance(rig.nowMillis(), 1_000, rig.nowNanos, entry -> fired.add(entry.id()));
    return fired;
  }

  @Test
  void onlyLanesOfMostlyPostponedEntriesAreProbed() {
    rig.local("punctual");
    DueEntry punctual = entry(0, START_MILLIS, 77, "punctual");
    rig.lanes.ready(punctual, rig.nowNanos);
    DueEntry entry = ready(1);
    assertThat(probe().<TaskId>items()).containsExactly(entry.id());
    assertThat(rig.lane("punctual").claimable()).isEqualTo(1);
    assertThat(rig.lane("q").claimable()).isZero();
  }

  @Test
  void aProbedDueEntryIsTakenBeforeEntriesWithoutAProbe() {
    DueEntry first = ready(1);
    ready(2);
    DueEntry third = ready(3);
    LoopRig.Call call = probe();
    ready(4);
    rig.answer(call, List.of(dueAt(START_MILLIS), dueAt(LATER), Probed.UNKNOWN));
    assertThat(rig.lanes.waiting()).isEqualTo(3);
    assertThat(taken()).as("the fourth entry was not probed").containsExactly(first, third);
  }

  /** The destination has taken few of the entries that were found due, and most of their tasks were postponed since. */
  @Test
  void anOldProbeIsRepeatedBeforeEntriesWithoutAProbe() {
    DueEntry first = ready(1);
    DueEntry second = ready(2);
    DueEntry third = ready(3);
    rig.answer(probe(), List.of(dueAt(START_MILLIS), dueAt(START_MILLIS), dueAt(START_MILLIS)));
    mostAreLater("q");
    postponed.probe(rig.nowNanos);
    assertThat(rig.calls).as("the probes are new").isEmpty();
    rig.advance(1_000);
    assertThat(rig.lanes.take(rig.lane("q"))).as("claimed meanwhile").isEqualTo(first);
    DueEntry fresh = ready(4);
    LoopRig.Call again = probe();
    assertThat(again.<TaskId>items()).containsExactly(second.id(), third.id(), fresh.id());
    rig.answer(again, List.of(dueAt(LATER + 5_000), dueAt(START_MILLIS), dueAt(START_MILLIS)));
    mostAreLater("q");
    postponed.probe(rig.nowNanos);
    assertThat(rig.calls).isEmpty();
    assertThat(rig.lanes.waiting()).isEqualTo(2);
    assertThat(taken()).containsExactly(third, fresh);
  }

  @Test
  void enoughDueEntriesEndTheProbing() {
    for (int i = 0; i < 6; i++) {
      ready(i);
    }
    LoopRig.Call call = probe();
    rig.answer(call, call.items().stream().map(id -> dueAt(START_MILLIS)).toList());
    DueEntry next = ready(100);
    postponed.probe(rig.nowNanos);
    assertThat(rig.calls).isEmpty();
    assertThat(taken()).hasSize(7).endsWith(next);
  }

  @Test
  void aPostponedEntryLeavesTheLanesAndWakesAtItsNewDeadline() {
    DueEntry entry = ready(1);
    rig.answer(probe(), List.of(dueAt(LATER)));
    assertThat(rig.lanes.waiting()).isZero();
    assertThat(rig.moves.covers(entry, rig.clock, rig.nowNanos)).isTrue();
    assertThat(fired()).isEmpty();
    rig.advance(1_000);
    assertThat(fired()).containsExactly(entry.id());
    assertThat(rig.lanes.found(new DueEntry(LATER, entry.id(), "q"), rig.nowNanos)).as("the lanes have no such entry")
        .isTrue();
  }

  @Test
  void anEntryInItsPlaceIsNotMoved() {
    DueEntry entry = ready(1);
    LoopRig.Call call = probe();
    LoopRig.Call read = read();
    rig.answer(call, List.of(new Probed(LATER, LATER)));
    assertThat(rig.moves.isEmpty()).isTrue();
    assertThat(rig.lanes.found(entry, rig.nowNanos)).as("in the read that began before the probe's answer").isFalse();
    rig.answer(read, List.of());
    postponed.move(rig.nowNanos);
    assertThat(rig.calls).isEmpty();
    rig.advance(1_000);
    assertThat(fired()).containsExactly(entry.id());
  }

  @Test
  void anEntryThatIsDueAgainIsNotMoved() {
    DueEntry entry = ready(1);
    rig.answer(probe(), List.of(dueAt(LATER)));
    rig.advance(500);
    assertThat(rig.lanes.found(entry, rig.nowNanos)).as("a probe is trusted for 500 ms only").isTrue();
    rig.answer(probe(), List.of(dueAt(START_MILLIS)));
    assertThat(rig.moves.isEmpty()).isTrue();
    assertThat(taken()).containsExactly(entry);
  }

  @Test
  void aFailedProbeForgetsItsEntries() {
    DueEntry entry = ready(1);
    rig.fail(probe());
    assertThat(rig.lanes.waiting()).isZero();
    assertThat(rig.moves.isEmpty()).isTrue();
    assertThat(rig.lanes.found(entry, rig.nowNanos)).as("a poll finds the entry").isTrue();
    postponed.probe(rig.nowNanos);
    assertThat(rig.calls).as("a failure is followed by a pause").isEmpty();
    rig.advance(20);
    assertThat(probe().<TaskId>items()).containsExactly(entry.id());
  }

  @Test
  void aProbeWhoseAnswerIsNotHandledForgetsItsEntries() {
    DueEntry entry = ready(1);
    LoopRig.Call probe = probe();
    assertThatThrownBy(() -> rig.answer(probe, List.of("no probe"))).isInstanceOf(ClassCastException.class);
    assertThat(rig.lanes.found(entry, rig.nowNanos)).as("a poll finds the entry").isTrue();
  }

  @Test
  void noMoreThanTwoProbesAreInProgress() {
    ready(1);
    LoopRig.Call first = probe();
    ready(2);
    LoopRig.Call second = probe();
    DueEntry third = ready(3);
    postponed.probe(rig.nowNanos);
    assertThat(rig.calls).isEmpty();
    rig.answer(second, List.of(dueAt(LATER)));
    assertThat(probe().<TaskId>items()).containsExactly(third.id());
    assertThat(first.answer()).isNotDone();
  }

  @Test
  void whileAMoveIsInProgressItsEntryIsCovered() {
    DueEntry entry = ready(1);
    rig.answer(probe(), List.of(dueAt(LATER)));
    LoopRig.Call call = move();
    assertThat(call.<Claim>items()).containsExactly(Claim.move(entry.id()));
    assertThat(rig.lanes.found(entry, rig.nowNanos)).isFalse();
    read();
    rig.answer(call, claimed(new ClaimResult.Later(LATER)));
    assertThat(rig.lanes.found(entry, rig.nowNanos)).as("in the read that began before the move's answer").isFalse();
    assertThat(rig.lookAhead.size()).as("the wheel has the deadline already").isEqualTo(1);
  }

  @Test
  void aMoveThatFindsAnotherDeadlineWakesAtIt() {
    DueEntry entry = ready(1);
    rig.answer(probe(), List.of(dueAt(LATER)));
    rig.answer(move(), claimed(new ClaimResult.Later(LATER + 500)));
    rig.advance(1_000);
    assertThat(fired()).as("at the first deadline, where a claim finds the task not due").containsExactly(entry.id());
    rig.advance(500);
    assertThat(fired()).containsExactly(entry.id());
  }

  @Test
  void aTaskThatAMoveFindsReadyGoesToItsLane() {
    DueEntry entry = ready(1);
    rig.answer(probe(), List.of(dueAt(LATER)));
    rig.answer(move(), claimed(ClaimResult.Ready.READY));
    assertThat(rig.lane("q").waiting()).isEqualTo(1);
    assertThat(probe().<TaskId>items()).containsExactly(entry.id());
  }

  @Test
  void aTaskThatAMoveFindsGoneIsForgotten() {
    DueEntry entry = ready(1);
    rig.answer(probe(), List.of(dueAt(LATER)));
    LoopRig.Call call = move();
    read();
    rig.answer(call, claimed(ClaimResult.Gone.ABSENT));
    assertThat(rig.lanes.found(entry, rig.nowNanos)).isFalse();
    assertThat(rig.lanes.waiting()).isZero();
  }

  @Test
  void entriesOfAFailedMoveAreFoundAgain() {
    DueEntry entry = ready(1);
    rig.answer(probe(), List.of(dueAt(LATER)));
    rig.fail(move());
    assertThat(rig.moves.isEmpty()).isTrue();
    assertThat(rig.lanes.found(entry, rig.nowNanos)).isTrue();
    postponed.move(rig.nowNanos);
    assertThat(rig.calls).isEmpty();
  }

  @Test
  void atMostTwoMovesOf1000EntriesAreInProgress() {
    Moves many = new Moves(10_000);
    Postponed moving = postponed(many);
    for (int i = 0; i < 2_500; i++) {
      many.add(entry(0, START_MILLIS, i, "q"), LATER, rig.nowNanos);
    }
    for (int i = 0; i < 5; i++) {
      moving.move(rig.nowNanos);
    }
    assertThat(rig.calls).extracting(call -> call.items().size()).containsExactly(1_000, 1_000);
    rig.fail(rig.calls.removeFirst());
    rig.advance(20);
    moving.move(rig.nowNanos);
    assertThat(rig.calls).extracting(call -> call.items().size()).containsExactly(1_000, 500);
  }

  @Test
  void aDueEntryOfAQueueThatWasPausedMeanwhileIsParked() {
    DueEntry entry = ready(1);
    LoopRig.Call call = probe();
    rig.queue(QueueConfig.builder("q", Target.local()).paused(true).build());
    rig.answer(call, List.of(dueAt(START_MILLIS)));
    assertThat(rig.lane("q").waiting()).isZero();
    assertThat(rig.lanes.takeOverflow(10, rig.nowNanos)).containsExactly(entry);
  }
}
