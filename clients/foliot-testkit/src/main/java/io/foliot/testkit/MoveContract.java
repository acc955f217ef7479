package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Part of the kit: the migration of live tasks from one store to another. */
abstract class MoveContract extends RecordContract {
  private List<TaskRecord> live(int limit) {
    List<TaskRecord> found = new ArrayList<>();
    String cursor = null;
    do {
      RecordPage page = get(store().live(limit, cursor));
      assertThat(page.tasks()).hasSizeLessThanOrEqualTo(limit);
      found.addAll(page.tasks());
      cursor = page.cursor();
    } while (cursor != null);
    return found;
  }

  private TaskRecord one(TaskId id) {
    return live(100).stream().filter(task -> task.id().equals(id)).findFirst().orElseThrow();
  }

  private boolean adopt(TaskRecord task) {
    return one(store().adopt(List.of(task)));
  }

  private static void assertSame(TaskRecord found, @Nullable TaskRecord expected) {
    assertThat(found).usingRecursiveComparison().isEqualTo(expected);
  }

  @Test
  void liveTasksOfAllQueuesAreListedOnceEach() {
    Set<TaskId> expected = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      expected.add(created(i % 2 == 0 ? "key " + i : null, now() + HOUR));
      expected.add(created(withQueue(draft("key " + i, now()), OTHER_QUEUE)));
    }
    expected.add(won(due("runs")).id());
    expected.add(parked(draft("parked", now())));
    finish(won(due("ends")));
    assertThat(cancel(id(created("cancelled", now() + HOUR))).kind()).isEqualTo(Cancellation.CANCELLED);
    for (int limit : new int[]{1, 7, 62, 63, 1_000}) {
      assertThat(live(limit)).extracting(TaskRecord::id).as("limit %s", limit).doesNotHaveDuplicates()
          .containsExactlyInAnyOrderElementsOf(expected);
    }
  }

  @Test
  void anAdoptedTaskIsUnchanged() {
    long now = now();
    TaskId pushed = created("pushed", now + 10 * HOUR);
    touch(key("pushed"), now + 11 * HOUR);
    TaskId parked = parked(draft("parked", now));
    TaskRecord running = won(due("runs"));
    touch(key("runs"), now + HOUR);
    TaskRecord cancelled = won(due(null));
    assertThat(cancel(id(cancelled.id())).kind()).isEqualTo(Cancellation.CANCEL_PENDING);
    TaskId retried = due("retried");
    settled(won(retried), new Outcome.Retry(Due.at(now + HOUR)));
    List<TaskRecord> moved = live(1_000);
    assertThat(moved).hasSize(5);

    openAnother();
    assertThat(get(store().adopt(moved))).containsOnly(true).hasSize(5);
    moved.forEach(task -> {
      assertSame(record(task.id()), task);
      assertSame(one(task.id()), task);
    });
    assertThat(wakes(pushed)).containsExactly(now + 10 * HOUR);
    assertThat(get(store().parked(QUEUE, allSlots(), null, 10))).extracting(DueEntry::id).containsExactly(parked);
    assertThat(find(key("retried")).orElseThrow().attempts()).hasSize(1);
    assertThat(settled(running, new Outcome.Finished()).state()).isEqualTo(TaskState.DELAYED);
    assertThat(record(running.id()).dueAt()).as("its successor took over").isEqualTo(now + HOUR);
    assertThat(settled(cancelled, new Outcome.Failed()).state()).isEqualTo(TaskState.CANCELLED);
    assertThat(won(parked).id()).isEqualTo(parked);
  }

  @Test
  void aTaskAdoptedAgainIsLeftUnchanged() {
    TaskId id = due("a");
    TaskRecord before = one(id);
    openAnother();
    assertThat(adopt(before)).isTrue();
    TaskRecord running = won(id);
    assertThat(adopt(before)).isTrue();
    assertThat(record(id).state()).isEqualTo(TaskState.RUNNING);
    finish(running);
    assertThat(adopt(before)).isTrue();
    assertThat(record(id).state()).isEqualTo(TaskState.FINISHED);
    assertThat(settle(running, new Outcome.Finished()).kind()).isEqualTo(SettleResult.Kind.REPEATED);
  }

  @Test
  void anAdoptedTaskDoesNotReplaceTheLiveTaskOfItsKey() {
    TaskId id = due("a");
    TaskRecord moved = one(id);
    openAnother();
    TaskId live = created("a", now() + HOUR);
    assertThat(adopt(moved)).isFalse();
    assertThat(find(key("a")).orElseThrow().id()).isEqualTo(live);
    assertThat(find(id(id))).isEmpty();
  }

  @Test
  void generationsContinueAfterThoseOfAdoptedTasks() {
    // A generation is at least the time of its creation, in microseconds. So this number means 1,000 hours.
    long ahead = 1_000L * 60 * 60 * 1_000_000;
    TaskId id = due("a");
    TaskRecord moved = one(id);
    TaskRecord faraway = moved.edit().generation(moved.generation() + ahead).done();
    openAnother();
    assertThat(adopt(faraway)).isTrue();
    finish(won(id));
    assertThat(submit("a", now()).generation()).isGreaterThan(faraway.generation());
  }

  @Test
  void onlyLiveTasksAreAdopted() {
    TaskId id = due("a");
    finish(won(id));
    TaskRecord ended = record(id);
    openAnother();
    assertThat(catchThrowable(() -> store().adopt(List.of(ended)).toCompletableFuture().join()))
        .hasCauseInstanceOf(IllegalArgumentException.class);
  }
}
