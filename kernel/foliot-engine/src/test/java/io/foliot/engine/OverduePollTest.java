package io.foliot.engine;

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
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class OverduePollTest {
  private static final int SLOTS = 4;
  private static final SlotSet ALL = SlotSet.all(SLOTS);
  private static final SlotSet NONE = SlotSet.of(SLOTS, new BitSet());

  private final OverduePoll poll = new OverduePoll("c", SLOTS, 10, 0);
  private long nowNanos;

  /**
   * Polls one second after the previous poll, as a node without slots. Returns the slots whose entries the node takes,
   * in ascending order.
   *
   * @param heads the due time of the oldest entry of each slot, in milliseconds; 0 for none
   */
  private List<Integer> poll(boolean isBusy, int... heads) {
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
    poll.assigned(Assignment.of(Arrays.asList(owners)), NONE, OverduePoll.Adoption.ENDING, nowNanos);
  }

  @Test
  void slotsWithoutProgressForASecondAreTaken() {
    assign("a", "a", "b", "b");
    assertThat(poll(false, 5, 5, 0, 5)).isEmpty();
    assertThat(poll(false, 5, 5, 0, 5)).containsExactly(0, 1, 3);
  }

  @Test
  void anEntryBehindEntriesThatAreMovedIsTaken() {
    assign("a", "a", "b", "b");
    DueEntry stuck = new DueEntry(50, new TaskId(0, 50), "q");
    for (int second = 0; second < 4; second++) {
      nowNanos += TimeUnit.SECONDS.toNanos(1);
      DueEntry touched = new DueEntry(5 + second, new TaskId(0, 5), "q");
      List<DueEntry> taken = poll.taken(List.of(new DueSlice(0, List.of(touched, stuck), false)), NONE, false,
          nowNanos);
      assertThat(taken).as("what moves is not taken; the moves may be those of the owner").isEmpty();
    }
    nowNanos += TimeUnit.SECONDS.toNanos(2);
    DueEntry touched = new DueEntry(10, new TaskId(0, 5), "q");
    assertThat(poll.taken(List.of(new DueSlice(0, List.of(touched, stuck), false)), NONE, false, nowNanos))
        .containsExactly(stuck);
  }

  @Test
  void aSlotIsDrainedUntilAClaimIsLost() {
    assign("a", "a", "b", "b");
    assertThat(poll(false, 5, 5, 0, 0)).isEmpty();
    assertThat(poll(false, 5, 5, 0, 0)).containsExactly(0, 1);
    assertThat(poll(false, 6, 6, 0, 0)).containsExactly(0, 1);
    assertThat(poll.claimed(1, false, nowNanos)).isFalse();
    assertThat(poll(false, 7, 7, 0, 0)).containsExactly(0);
  }

  @Test
  void anOwnerThatMakesProgressInOtherSlotsIsGivenTime() {
    assign("a", "a", "b", "b");
    assertThat(poll(false, 5, 5, 0, 5)).isEmpty();
    assertThat(poll(false, 6, 5, 0, 5)).as("a makes progress in slot 0, b makes none").containsExactly(3);
    for (int second = 2; second < 5; second++) {
      assertThat(poll(false, 5 + second, 5, 0, 0)).isEmpty();
    }
    assertThat(poll(false, 10, 5, 0, 0)).as("a has made no progress in slot 1 for five seconds").containsExactly(1);
  }

  @Test
  void aBusyNodeGivesOwnersMoreTime() {
    assign("a", "a", "b", "b");
    for (int second = 0; second < 30; second++) {
      assertThat(poll(true, 5 + second, 5, 0, 0)).isEmpty();
    }
    assertThat(poll(true, 40, 5, 0, 0)).containsExactly(1);
  }

  @Test
  void anOwnerThatStopsMakingProgressIsGivenNoMoreTime() {
    assign("a", "a", "b", "b");
    assertThat(poll(false, 5, 5, 0, 0)).isEmpty();
    assertThat(poll(false, 6, 5, 0, 0)).isEmpty();
    assertThat(poll(false, 6, 5, 0, 0)).isEmpty();
    assertThat(poll(false, 6, 5, 0, 0)).isEmpty();
    assertThat(poll(false, 6, 5, 0, 0)).containsExactly(0, 1);
  }

  @Test
  void slotsWithoutAnOwnerAreTakenAfterASecond() {
    assertThat(poll(true, 5, 5, 0, 0)).isEmpty();
    assertThat(poll(true, 6, 5, 0, 0)).containsExactly(1);
  }

  /** Assigns the slots, and allows this node to adopt slots, as if the coordinator were unavailable. */
  private void assignAndAllowAdoption(String... owners) {
    poll.assigned(Assignment.of(Arrays.asList(owners)), NONE, OverduePoll.Adoption.ALLOWED, nowNanos);
  }

  private List<Integer> adopted() {
    SlotSet adopted = poll.adopted(nowNanos);
    return IntStream.range(0, SLOTS).filter(adopted::contains).boxed().toList();
  }

  /** Lets this node adopt all slots, because their owner makes no progress. */
  private void adoptAll() {
    assignAndAllowAdoption("a", "a", "a", "a");
    poll(false, 5, 5, 5, 5);
    poll(false, 5, 5, 5, 5);
    assertThat(adopted()).containsExactly(0, 1, 2, 3);
  }

  @Test
  void orphanedSlotsAreAdoptedWithoutTheCoordinator() {
    assignAndAllowAdoption("a", "a", "a", "a");
    assertThat(poll(false, 5, 0, 5, 5)).isEmpty();
    assertThat(adopted()).isEmpty();
    assertThat(poll(false, 5, 0, 5, 6)).as("an owner that makes progress is given time").isEmpty();
    assertThat(poll(false, 5, 0, 5, 6)).isEmpty();
    assertThat(poll(false, 5, 0, 5, 6)).isEmpty();
    assertThat(poll(true, 5, 0, 5, 6)).as("a busy node adopts them too").containsExactly(0, 2, 3);
    assertThat(adopted()).containsExactly(0, 2, 3);
  }

  @Test
  void eachHelperWaitsOnePollLongerThanTheHelperBefore() {
    Assignment assignment = Assignment.of(List.of("a", "a", "a", "a", "b", "c", "d", "e"));
    for (String helper : List.of("b", "c", "d", "e")) {
      OverduePoll polls = new OverduePoll(helper, 8, 10, 0);
      SlotSet mine = SlotSet.of(8, assignment.slotsOf(helper));
      polls.assigned(assignment, mine, OverduePoll.Adoption.ALLOWED, 0);
      for (int second = 1; second <= 6; second++) {
        long now = TimeUnit.SECONDS.toNanos(second);
        polls.begin(SlotSet.of(8, assignment.slotsOf("a")), mine, 10_000, now);
        List<DueSlice> slices = IntStream.range(0, SLOTS)
            .mapToObj(slot -> new DueSlice(slot, List.of(new DueEntry(5, new TaskId(slot, 5), "q")), false)).toList();
        polls.taken(slices, mine, false, now);
        for (int slot = 0; slot < SLOTS; slot++) {
          assertThat(polls.adopted(now).contains(slot))
              .isEqualTo(second >= 2 + assignment.helpersBefore(slot, helper));
        }
      }
    }
  }

  @Test
  void aDifferentAssignmentEndsAnAdoption() {
    adoptAll();
    assignAndAllowAdoption("a", "a", "a", "a");
    assertThat(adopted()).containsExactly(0, 1, 2, 3);
    assignAndAllowAdoption("b", "a", "a", "a");
    assertThat(adopted()).isEmpty();
  }

  @Test
  void anAdoptionEndsTenSecondsAfterTheCoordinatorReturns() {
    adoptAll();
    for (int second = 0; second < 9; second++) {
      assign("a", "a", "a", "a");
      nowNanos += TimeUnit.SECONDS.toNanos(1);
      assertThat(adopted()).containsExactly(0, 1, 2, 3);
    }
    nowNanos += TimeUnit.SECONDS.toNanos(1);
    assertThat(adopted()).isEmpty();
  }

  @Test
  void aNodeThatMayNotAdoptStillTakesOverdueEntries() {
    adoptAll();
    poll.assigned(Assignment.of(Arrays.asList("a", "a", "a", "a")), NONE, OverduePoll.Adoption.FORBIDDEN, nowNanos);
    assertThat(adopted()).isEmpty();
    poll(false, 5, 5, 5, 5);
    assertThat(poll(false, 5, 5, 5, 5)).as("the node takes overdue entries").isNotEmpty();
    assertThat(adopted()).isEmpty();
  }

  /** Returns how many claims it takes until the slot is given up, or MAX_VALUE if 1,000 claims do not suffice. */
  private int claimsUntilGivenUp(int slot, int wonOfTen) {
    for (int claim = 0; claim < 1_000; claim++) {
      if (poll.claimed(slot, claim % 10 < wonOfTen, nowNanos)) {
        return claim + 1;
      }
    }
    return Integer.MAX_VALUE;
  }

  @Test
  void aSlotWhoseClaimsAnotherNodeWinsIsGivenUp() {
    adoptAll();
    assertThat(claimsUntilGivenUp(0, 9)).as("a few lost claims are normal").isEqualTo(Integer.MAX_VALUE);
    assertThat(claimsUntilGivenUp(1, 5)).isLessThan(30);
    assertThat(adopted()).containsExactly(0, 2, 3);
    poll(false, 0, 7, 0, 0);
    poll(false, 0, 7, 0, 0);
    assertThat(adopted()).as("no owner has made progress").containsExactly(0, 1, 2, 3);
    assertThat(claimsUntilGivenUp(1, 0)).as("lost claims are ignored for 60 s").isEqualTo(Integer.MAX_VALUE);
    nowNanos += TimeUnit.SECONDS.toNanos(60);
    assertThat(claimsUntilGivenUp(1, 0)).isLessThan(30);
  }

  @Test
  void bothHalvesOfAnAdoptedSlotAreAdopted() {
    adoptAll();
    poll.grow(2 * SLOTS);
    assertThat(poll.adopted(nowNanos)).isEqualTo(SlotSet.all(2 * SLOTS));
  }
}
