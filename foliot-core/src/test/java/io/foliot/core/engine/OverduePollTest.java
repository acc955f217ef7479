package io.foliot.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.SlotSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class OverduePollTest {
  private static final int SLOTS = 4;
  private static final SlotSet ALL = SlotSet.all(SLOTS);
  private static final SlotSet NONE = SlotSet.of(SLOTS, new BitSet());

  private final OverduePoll poll = new OverduePoll(SLOTS, 10, 0);
  private long nowNanos;

  /** A look of this node, which has no slots, a second later, at slots whose oldest entries are these; 0 is none. */
  private List<Integer> look(boolean isBusy, int... heads) {
    nowNanos += TimeUnit.SECONDS.toNanos(1);
    assertThat(poll.isDue(nowNanos)).isTrue();
    List<DueScan> scans = poll.begin(ALL, NONE, 10_000, nowNanos);
    assertThat(scans).hasSize(SLOTS).allSatisfy(scan -> assertThat(scan.toWakeAt()).isEqualTo(9_000));
    List<DueSlice> slices = new ArrayList<>();
    for (int slot = 0; slot < SLOTS; slot++) {
      List<DueEntry> entries = heads[slot] == 0
          ? List.of()
          : List.of(new DueEntry(heads[slot], new TaskId(slot, heads[slot]), "q"));
      slices.add(new DueSlice(slot, entries, false));
    }
    return poll.taken(slices, NONE, isBusy, nowNanos).stream().map(entry -> (int) entry.id().high()).toList();
  }

  private void assign(String... owners) {
    poll.assigned(Assignment.of(Arrays.asList(owners)), NONE);
  }

  @Test
  void whatHasNotMovedForASecondIsTaken() {
    assign("a", "a", "b", "b");
    assertThat(look(false, 5, 5, 0, 5)).isEmpty();
    assertThat(look(false, 5, 5, 0, 5)).containsExactly(0, 1, 3);
  }

  @Test
  void whatIsWorkedOffIsTakenUntilAClaimIsNotWon() {
    assign("a", "a", "b", "b");
    assertThat(look(false, 5, 5, 0, 0)).isEmpty();
    assertThat(look(false, 5, 5, 0, 0)).containsExactly(0, 1);
    assertThat(look(false, 6, 6, 0, 0)).containsExactly(0, 1);
    poll.isLookedAfter(1);
    assertThat(look(false, 7, 7, 0, 0)).containsExactly(0);
  }

  @Test
  void anOwnerThatWorksOffOtherSlotsIsGivenTime() {
    assign("a", "a", "b", "b");
    assertThat(look(false, 5, 5, 0, 5)).isEmpty();
    assertThat(look(false, 6, 5, 0, 5)).as("a works on its first slot, b on nothing").containsExactly(3);
    for (int second = 2; second < 5; second++) {
      assertThat(look(false, 5 + second, 5, 0, 0)).isEmpty();
    }
    assertThat(look(false, 10, 5, 0, 0)).as("has not come to its second one for five seconds").containsExactly(1);
  }

  @Test
  void whoIsBusyGivesMoreTime() {
    assign("a", "a", "b", "b");
    for (int second = 0; second < 30; second++) {
      assertThat(look(true, 5 + second, 5, 0, 0)).isEmpty();
    }
    assertThat(look(true, 40, 5, 0, 0)).containsExactly(1);
  }

  @Test
  void anOwnerThatStopsWorkingIsGivenNoMoreTime() {
    assign("a", "a", "b", "b");
    assertThat(look(false, 5, 5, 0, 0)).isEmpty();
    assertThat(look(false, 6, 5, 0, 0)).isEmpty();
    assertThat(look(false, 6, 5, 0, 0)).isEmpty();
    assertThat(look(false, 6, 5, 0, 0)).isEmpty();
    assertThat(look(false, 6, 5, 0, 0)).containsExactly(0, 1);
  }

  @Test
  void whatNobodyOwnsIsNotWaitedFor() {
    assertThat(look(true, 5, 5, 0, 0)).isEmpty();
    assertThat(look(true, 6, 5, 0, 0)).containsExactly(1);
  }
}
