package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TouchResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Part of the kit: the index, and parked tasks. */
abstract class IndexContract extends CancelContract {
  private static final Comparator<DueEntry> BY_WAKE = Comparator.comparingLong(DueEntry::wakeAt)
      .thenComparing(DueEntry::id);

  /** Creates tasks of one slot, up to three of them due at the same instant. Returns their entries in index order. */
  private List<DueEntry> many(int hash16, long from, int count) {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      // The prime number shuffles the due times.
      drafts.add(draftIn(hash16, from + (i * 7919L % count) / 3));
    }
    get(store().submit(drafts));
    return drafts.stream().map(draft -> new DueEntry(dueAt(draft), draft.id(), draft.queue())).sorted(BY_WAKE)
        .toList();
  }

  @Test
  void theIndexIsReadInOrderOfInstantAndId() {
    List<DueEntry> expected = many(0, now(), 50);
    DueSlice slice = scan(0, EVER, null, FOR_EVER, 1_000);
    assertThat(slice.slot()).isZero();
    assertThat(slice.entries()).containsExactlyElementsOf(expected);
    assertThat(slice.more()).isFalse();
  }

  @Test
  void bothEndsOfARangeAreInclusive() {
    long now = now();
    for (int i = 0; i < 5; i++) {
      created(draftIn(0, now + i));
    }
    assertThat(scan(0, now + 1, null, now + 3, 10).entries()).extracting(DueEntry::wakeAt)
        .containsExactly(now + 1, now + 2, now + 3);
    assertThat(scan(0, now + 2, null, now + 2, 10).entries()).hasSize(1);
    assertThat(scan(0, now + 5, null, FOR_EVER, 10).entries()).isEmpty();
    assertThat(scan(0, EVER, null, now - 1, 10).entries()).isEmpty();
    assertThat(scan(0, now + 3, null, now + 1, 10).entries()).as("a range that ends before it begins").isEmpty();
  }

  @Test
  void aScanContinuesAfterTheLastEntryOfAPage() {
    List<DueEntry> expected = many(0, now(), 50);
    for (int limit : new int[]{1, 2, 7, 49, 50}) {
      List<DueEntry> read = new ArrayList<>();
      DueSlice slice = scan(0, EVER, null, FOR_EVER, limit);
      read.addAll(slice.entries());
      while (slice.more()) {
        assertThat(slice.entries()).hasSize(limit);
        slice = scan(0, read.getLast().wakeAt(), read.getLast().id(), FOR_EVER, limit);
        read.addAll(slice.entries());
        assertThat(read).hasSizeLessThanOrEqualTo(expected.size());
      }
      assertThat(read).as("limit %s", limit).containsExactlyElementsOf(expected);
    }
  }

  @Test
  void onlyAPageCutByItsLimitHasMore() {
    long now = now();
    for (int i = 0; i < 4; i++) {
      created(draftIn(0, now + i));
    }
    assertThat(scan(0, EVER, null, FOR_EVER, 3).more()).isTrue();
    assertThat(scan(0, EVER, null, FOR_EVER, 4).more()).isFalse();
    assertThat(scan(0, EVER, null, now + 2, 3).more()).as("entries after the range are not reported as more").isFalse();
  }

  @Test
  void aScanReadsOnlyItsSlot() {
    long now = now();
    int last = store().slotCount() - 1;
    TaskId first = created(draftIn(0, now));
    TaskId second = created(draftIn(last, now));
    List<DueSlice> slices = get(store().due(List.of(new DueScan(last, EVER, null, now, 10),
        new DueScan(0, EVER, null, now, 10), new DueScan(last, EVER, null, now - 1, 10))));
    assertThat(slices).extracting(DueSlice::slot).containsExactly(last, 0, last);
    assertThat(slices.getFirst().entries()).containsOnlyOnce(new DueEntry(now, second, QUEUE));
    assertThat(slices.get(1).entries()).containsOnlyOnce(new DueEntry(now, first, QUEUE));
    assertThat(slices.get(2).entries()).isEmpty();
    if (last > 0) {
      assertThat(slices.getFirst().entries()).hasSize(1);
      assertThat(slices.get(1).entries()).hasSize(1);
    }
  }

  @Test
  void anEntryHoldsTheQueueOfItsTask() {
    TaskId id = created(withQueue(draft("a", now()), OTHER_QUEUE));
    assertThat(index(slotOf(id))).containsExactly(new DueEntry(record(id).wakeAt(), id, OTHER_QUEUE));
  }

  @Test
  void aLiveTaskHasOneIndexEntryAndAFinalTaskNone() {
    TaskId id = due("a");
    assertThat(wakes(id)).containsExactly(record(id).wakeAt());
    TaskRecord first = won(id);
    assertThat(wakes(id)).containsExactly(first.leaseEnd());
    long retryAt = now() + HOUR;
    settled(first, new Outcome.Retry(Due.at(retryAt)));
    assertThat(wakes(id)).containsExactly(retryAt);
    touch(key("a"), now());
    TaskRecord second = won(id);
    long successorAt = now() + 2 * HOUR;
    touch(key("a"), successorAt);
    assertThat(wakes(id)).containsExactly(second.leaseEnd());
    finish(second);
    assertThat(wakes(id)).containsExactly(successorAt);
    touch(key("a"), now());
    finish(won(id));
    assertThat(wakes(id)).isEmpty();
  }

  @Test
  void aTaskThatIsDueCanBeParked() {
    TaskId id = due("a");
    DueEntry entry = entry(id);
    assertThat(one(store().park(List.of(entry)))).isTrue();
    assertThat(wakes(id)).as("its entry left the index").isEmpty();
    assertThat(allParked(QUEUE)).containsExactly(entry);
    TaskRecord task = record(id);
    assertThat(task.parked()).isTrue();
    assertThat(task.state()).isEqualTo(TaskState.DELAYED);
    assertThat(one(store().park(List.of(entry)))).as("again").isFalse();
    assertThat(allParked(QUEUE)).containsExactly(entry);
  }

  @Test
  void parkingATaskThatIsNotDueMovesItsEntryToTheDueTime() {
    long now = now();
    TaskId id = created("a", now + HOUR);
    assertThat(park(id)).isFalse();
    assertThat(wakes(id)).containsExactly(now + HOUR);
    TaskId pushedBack = due("b");
    DueEntry old = entry(pushedBack);
    touch(key("b"), now + 2 * HOUR);
    assertThat(one(store().park(List.of(old)))).isFalse();
    assertThat(wakes(pushedBack)).containsExactly(now + 2 * HOUR);
    assertThat(allParked(QUEUE)).isEmpty();
  }

  @Test
  void aRunningTaskIsNotParkedUntilItsLeaseHasEnded() {
    TaskId id = due("a");
    TaskRecord running = won(id, 2 * tickMillis());
    assertThat(park(id)).isFalse();
    assertThat(wakes(id)).containsExactly(running.leaseEnd());
    pass(3);
    assertThat(park(id)).isTrue();
    assertThat(wakes(id)).isEmpty();
    assertThat(allParked(QUEUE)).extracting(DueEntry::id).containsExactly(id);
    TaskRecord next = won(id);
    assertThat(next.attempt()).isEqualTo(2);
    assertThat(settle(running, new Outcome.Finished()).kind())
        .isEqualTo(SettleResult.Kind.STALE);
  }

  @Test
  void aParkedTaskWhoseLeaseHasEndedMayStillBeSettled() {
    TaskId id = due("a");
    TaskRecord running = lost(id);
    assertThat(park(id)).isTrue();
    long retryAt = now() + HOUR;
    settled(running, new Outcome.Retry(Due.at(retryAt)));
    assertThat(allParked(QUEUE)).isEmpty();
    assertThat(wakes(id)).containsExactly(retryAt);
  }

  @Test
  void aParkWithAnOldEntryDoesNothing() {
    TaskId id = due("a");
    DueEntry entry = entry(id);
    touch(key("a"), entry.wakeAt() - 5);
    assertThat(one(store().park(List.of(entry)))).isFalse();
    assertThat(wakes(id)).containsExactly(entry.wakeAt() - 5);
    cancel(key("a"));
    DueEntry absent = new DueEntry(now(), newId(QUEUE, "b"), QUEUE);
    assertThat(get(store().park(List.of(entry, absent)))).containsExactly(false, false);
    assertThat(allParked(QUEUE)).isEmpty();
  }

  @Test
  void aTaskWhoseCancelWaitedForTheLeaseIsNotParked() {
    TaskId id = due("a");
    won(id, 2 * tickMillis());
    cancel(id(id));
    pass(3);
    assertThat(park(id)).isFalse();
    assertThat(allParked(QUEUE)).isEmpty();
    assertThat(wakes(id)).as("a node ends it by a claim").hasSize(1);
    get(store().claim(List.of(Claim.end(id))));
    assertThat(record(id).state()).isEqualTo(TaskState.CANCELLED);
    assertThat(wakes(id)).isEmpty();
  }

  @Test
  void parkedTasksAreListedInOrderPageByPage() {
    List<DueEntry> expected = new ArrayList<>();
    for (DueEntry entry : many(0, now() - 100, 30)) {
      assertThat(one(store().park(List.of(entry)))).isTrue();
      expected.add(entry);
    }
    parked(withQueue(draft("other", now()), OTHER_QUEUE));
    created(draftIn(0, now()));
    for (int limit : new int[]{1, 4, 30, 100}) {
      List<DueEntry> read = new ArrayList<>();
      List<DueEntry> page = get(store().parked(QUEUE, allSlots(), null, limit));
      while (!page.isEmpty()) {
        assertThat(page.size()).isLessThanOrEqualTo(limit);
        read.addAll(page);
        assertThat(read).hasSizeLessThanOrEqualTo(expected.size());
        page = get(store().parked(QUEUE, allSlots(), read.getLast(), limit));
      }
      assertThat(read).as("limit %s", limit).containsExactlyElementsOf(expected);
    }
  }

  @Test
  void parkedTasksOfAllSlotsAreListedOnceEach() {
    List<TaskId> expected = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      expected.add(parked(draft("key " + i, now() - i)));
    }
    List<TaskId> read = new ArrayList<>();
    List<DueEntry> page = get(store().parked(QUEUE, allSlots(), null, 7));
    while (!page.isEmpty()) {
      page.forEach(entry -> read.add(entry.id()));
      assertThat(read).hasSizeLessThanOrEqualTo(expected.size());
      page = get(store().parked(QUEUE, allSlots(), page.getLast(), 7));
    }
    assertThat(read).containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void parkedTasksAreListedBySlot() {
    int last = store().slotCount() - 1;
    TaskId first = parked(draftIn(0, now()));
    TaskId second = parked(draftIn(last, now()));
    assertThat(get(store().parked(QUEUE, slots(last), null, 10))).extracting(DueEntry::id).contains(second);
    assertThat(get(store().parked(QUEUE, slots(), null, 10))).isEmpty();
    if (last > 0) {
      assertThat(get(store().parked(QUEUE, slots(last), null, 10))).extracting(DueEntry::id).doesNotContain(first);
      assertThat(get(store().parked(QUEUE, slots(0), null, 10))).extracting(DueEntry::id).containsExactly(first);
    }
  }

  @Test
  void theQueuesWithParkedTasksAreListed() {
    TaskId here = parked(draftIn(0, now()));
    created(withQueue(draft("waits", now()), OTHER_QUEUE));
    eventually(() -> get(store().parkedQueues(allSlots())).equals(Set.of(QUEUE)), "one queue has parked tasks");
    assertThat(get(store().parkedQueues(slots()))).isEmpty();
    if (store().slotCount() > 1) {
      assertThat(get(store().parkedQueues(slots(1)))).isEmpty();
    }
    won(here);
    eventually(() -> get(store().parkedQueues(allSlots())).isEmpty(), "no queue has parked tasks");
  }

  @Test
  void aParkedTaskCanBeClaimed() {
    TaskId id = parked(draft("a", now()));
    TaskRecord running = won(id);
    assertThat(running.parked()).isFalse();
    assertThat(allParked(QUEUE)).isEmpty();
    assertThat(wakes(id)).containsExactly(running.leaseEnd());
  }

  @Test
  void aClaimOfAPostponedParkedTaskReturnsItToTheIndex() {
    TaskId id = parked(draft("a", now()));
    long dueAt = now() + HOUR;
    assertThat(touch(key("a"), dueAt).kind()).isEqualTo(TouchResult.Kind.RESET);
    assertThat(later(claim(id))).isEqualTo(dueAt);
    assertThat(allParked(QUEUE)).isEmpty();
    assertThat(wakes(id)).containsExactly(dueAt);
    assertThat(record(id).parked()).isFalse();
  }

  @Test
  void aParkedTaskThatIsResetToAnEarlierInstantGoesToTheIndex() {
    TaskId id = parked(draft("a", now()));
    long dueAt = entry(id).wakeAt() - 10;
    assertThat(touch(key("a"), dueAt).indexed()).isTrue();
    assertThat(allParked(QUEUE)).isEmpty();
    assertThat(wakes(id)).containsExactly(dueAt);
  }

  @Test
  void aSubmitResetsOrKeepsAParkedTask() {
    TaskId id = parked(draft("a", now()));
    assertThat(submit(draft("a", now(), OnConflict.KEEP)).id()).isEqualTo(id);
    long generation = submit(withBody(draft("a", now()), body("new"))).generation();
    TaskRecord running = won(id);
    assertThat(running.generation()).isEqualTo(generation);
    assertThat(running.body()).isEqualTo(body("new"));
  }

  @Test
  void aParkedTaskIsCancelledAtOnce() {
    TaskId id = parked(draft("a", now()));
    assertThat(cancelKind(key("a"))).isEqualTo(Cancellation.CANCELLED);
    assertThat(allParked(QUEUE)).isEmpty();
    assertThat(wakes(id)).isEmpty();
    assertThat(claim(id)).isEqualTo(ClaimResult.Gone.ABSENT);
    assertThat(record(id).state()).isEqualTo(TaskState.CANCELLED);
  }
}
