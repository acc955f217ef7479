package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.foliot.api.Limits;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Part of the kit: look-ups, retention, configuration documents, time, and closing. */
abstract class RecordContract extends NoteContract {
  /**
   * Bound on the pages of one list. A test that reads this many pages fails, because the cursors of empty pages could
   * otherwise keep it reading for ever.
   */
  private static final int MAX_PAGES = 10_000;

  private List<TaskRecord> all(String queue, @Nullable TaskState state, int limit) {
    List<TaskRecord> found = new ArrayList<>();
    String cursor = null;
    int pages = 0;
    do {
      RecordPage page = get(store().query(queue, state, limit, cursor));
      assertThat(page.tasks()).hasSizeLessThanOrEqualTo(limit);
      found.addAll(page.tasks());
      cursor = page.cursor();
      assertThat(++pages).as("pages").isLessThan(MAX_PAGES);
    } while (cursor != null);
    return found;
  }

  private Set<TaskId> ids(String queue, @Nullable TaskState state) {
    List<TaskRecord> found = all(queue, state, 3);
    Set<TaskId> ids = new HashSet<>();
    found.forEach(task -> assertThat(ids.add(task.id())).as("listed once: %s", task).isTrue());
    return ids;
  }

  private static @Nullable Throwable failure(CompletionStage<?> stage) {
    return catchThrowable(() -> {
      try {
        stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        throw e.getCause() instanceof CompletionException deeper && deeper.getCause() != null
            ? deeper.getCause()
            : e.getCause() == null ? e : e.getCause();
      }
    });
  }

  @Test
  void aTaskIsFoundByIdAndByKey() {
    TaskId id = due("a");
    assertThat(find(id(id)).orElseThrow().id()).isEqualTo(id);
    assertThat(find(key("a")).orElseThrow().id()).isEqualTo(id);
    assertThat(find(key("b"))).isEmpty();
    assertThat(find(id(newId(QUEUE, "a")))).isEmpty();
    assertThat(find(new TaskRef.ByKey(OTHER_QUEUE, "a"))).isEmpty();
  }

  @Test
  void aKeyFindsItsLatestFinalTask() {
    TaskId first = due("a");
    finish(won(first));
    assertThat(find(key("a")).orElseThrow().id()).isEqualTo(first);
    TaskId second = due("a");
    cancel(id(second));
    assertThat(find(key("a")).orElseThrow().id()).isEqualTo(second);
    assertThat(find(key("a")).orElseThrow().state()).isEqualTo(TaskState.CANCELLED);
  }

  @Test
  void aQueryListsEachTaskOfItsQueueOnce() {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      drafts.add(draft(i % 2 == 0 ? "key " + i : null, now() + HOUR));
      drafts.add(withQueue(draft("key " + i, now()), OTHER_QUEUE));
    }
    Set<TaskId> expected = new HashSet<>();
    get(store().submit(drafts));
    drafts.stream().filter(draft -> draft.queue().equals(QUEUE)).forEach(draft -> expected.add(draft.id()));
    for (int limit : new int[]{1, 7, 50, 1_000}) {
      List<TaskRecord> found = all(QUEUE, null, limit);
      assertThat(found).as("limit %s", limit).extracting(TaskRecord::id).doesNotHaveDuplicates()
          .containsExactlyInAnyOrderElementsOf(expected);
    }
    assertThat(all("unused", null, 10)).isEmpty();
  }

  @Test
  void aQueryFiltersByStateAndByTheClock() {
    TaskId waiting = created("waiting", now() + HOUR);
    TaskId running = due("running");
    won(running);
    TaskId finished = due("finished");
    finish(won(finished));
    TaskId failed = failed("failed");
    TaskId cancelled = due("cancelled");
    cancel(id(cancelled));
    // This task is created last, because it is due soon if the clock of the store runs.
    TaskId soon = created("soon", now() + 2 * tickMillis());
    assertThat(ids(QUEUE, TaskState.DELAYED)).containsExactlyInAnyOrder(waiting, soon);
    assertThat(ids(QUEUE, TaskState.READY)).isEmpty();
    pass(3);
    assertThat(ids(QUEUE, TaskState.DELAYED)).containsExactly(waiting);
    assertThat(ids(QUEUE, TaskState.READY)).containsExactly(soon);
    assertThat(ids(QUEUE, TaskState.RUNNING)).containsExactly(running);
    assertThat(ids(QUEUE, TaskState.FINISHED)).containsExactly(finished);
    assertThat(ids(QUEUE, TaskState.FAILED)).containsExactly(failed);
    assertThat(ids(QUEUE, TaskState.CANCELLED)).containsExactly(cancelled);
    assertThat(ids(QUEUE, null)).containsExactlyInAnyOrder(waiting, soon, running, finished, failed, cancelled);
  }

  @Test
  void aQueryListsParkedTasksToo() {
    TaskId id = parked(draft("a", now()));
    assertThat(ids(QUEUE, TaskState.READY)).containsExactly(id);
    assertThat(all(QUEUE, TaskState.READY, 10).getFirst().parked()).isTrue();
  }

  @Test
  void anInvalidCursorIsRefused() {
    due("a");
    for (String cursor : List.of("", "x", "?", "0", "no-such-cursor", "' OR 1=1 --", "z".repeat(36))) {
      assertThat(failure(store().query(QUEUE, null, 10, cursor))).as("cursor %s", cursor)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void tasksAreCountedByState() {
    created("delayed", now() + HOUR);
    due("ready");
    parked(draft("parked", now()));
    won(due("running"));
    finish(won(due("finished")));
    finish(won(due("finished too")));
    failed("failed");
    TaskId cancelled = due("cancelled");
    cancel(id(cancelled));
    due("cancelled");
    created(withQueue(draft("a", now() + HOUR), OTHER_QUEUE));
    QueueCounts expected = new QueueCounts(4, 1, 1, 2, 1, 1);
    QueueCounts other = new QueueCounts(1, 0, 0, 0, 0, 0);
    eventually(() -> {
      Map<String, QueueCounts> counts = get(store().counts());
      return expected.equals(counts.get(QUEUE)) && other.equals(counts.get(OTHER_QUEUE));
    }, "counts " + expected + ", " + other);
  }

  @Test
  void aTaskWhoseLeaseHasEndedDoesNotCountAsRunning() {
    TaskId parked = due("parked later");
    won(parked, tickMillis());
    won(due("ended"), tickMillis());
    won(due("running"));
    pass(2);
    assertThat(park(parked)).isTrue();
    QueueCounts expected = new QueueCounts(2, 1, 1, 0, 0, 0);
    eventually(() -> expected.equals(get(store().counts()).get(QUEUE)), "counts " + expected);
  }

  @Test
  void hasLiveIsExactAtOnce() {
    assertThat(hasLive(QUEUE)).isFalse();
    // The store may cache these counts, which show no tasks. The next submit makes such a cache out of date.
    assertThat(get(store().counts())).doesNotContainKey(QUEUE);
    TaskId plain = created(null, now() + HOUR);
    assertThat(hasLive(QUEUE)).isTrue();
    assertThat(hasLive(OTHER_QUEUE)).isFalse();
    cancel(id(plain));
    assertThat(hasLive(QUEUE)).isFalse();
    TaskId keyed = due("a");
    assertThat(hasLive(QUEUE)).isTrue();
    TaskRecord running = won(keyed);
    assertThat(hasLive(QUEUE)).isTrue();
    settled(running, new Outcome.Failed());
    assertThat(hasLive(QUEUE)).isFalse();
    redrive(keyed);
    assertThat(hasLive(QUEUE)).isTrue();
    assertThat(park(keyed)).isTrue();
    assertThat(hasLive(QUEUE)).isTrue();
    finish(won(keyed));
    assertThat(hasLive(QUEUE)).isFalse();
    created(withQueue(draft(null, now() + HOUR), OTHER_QUEUE));
    assertThat(hasLive(OTHER_QUEUE)).isTrue();
    assertThat(hasLive(QUEUE)).isFalse();
    assertThat(hasLive("unused")).isFalse();
  }

  @Test
  void hasLiveIncludesCompletedSubmits() {
    for (int i = 0; i < 20; i++) {
      CompletionStage<List<SubmitResult>> submit = store().submit(List.of(draft(null, now() + HOUR)));
      CompletionStage<Boolean> live = submit.thenCompose(results -> store().hasLive(QUEUE));
      TaskId id = one(submit).id();
      assertThat(get(live)).isTrue();
      cancel(id(id));
      assertThat(hasLive(QUEUE)).isFalse();
    }
  }

  private boolean hasLive(String queue) {
    return get(store().hasLive(queue));
  }

  @Test
  void theCountsFollowEachTransition() {
    TaskId id = failed("a");
    redrive(id);
    TaskRecord running = won(id);
    touch(key("a"), now() + HOUR);
    settled(running, new Outcome.Finished());
    QueueCounts expected = new QueueCounts(1, 0, 0, 0, 0, 0);
    eventually(() -> expected.equals(get(store().counts()).get(QUEUE)), "counts " + expected);
  }

  @Test
  void finalTasksVanishAfterTheirRetentionAndNotBefore() {
    store().configure(QUEUE, retention(2 * tickMillis(), HOUR));
    store().configure(OTHER_QUEUE, retention(HOUR, 2 * tickMillis()));
    TaskId finished = due("finished");
    TaskId cancelled = due("cancelled");
    TaskId failed = due("failed");
    TaskId otherFinished = created(withQueue(draft("finished", now()), OTHER_QUEUE));
    TaskId otherFailed = created(withQueue(draft("failed", now()), OTHER_QUEUE));
    finish(won(finished));
    cancel(id(cancelled));
    settled(won(failed), new Outcome.Failed());
    finish(won(otherFinished));
    settled(won(otherFailed), new Outcome.Failed());
    TaskRecord ended = record(finished);
    assertThat(ended.dropAt()).isEqualTo(ended.changedAt() + 2 * tickMillis());
    pass(3);
    for (TaskId gone : List.of(finished, cancelled, otherFailed)) {
      assertThat(find(id(gone))).isEmpty();
    }
    assertThat(find(key("finished"))).isEmpty();
    assertThat(record(failed).state()).isEqualTo(TaskState.FAILED);
    assertThat(record(otherFinished).state()).isEqualTo(TaskState.FINISHED);
    assertThat(ids(QUEUE, null)).containsExactly(failed);
    assertThat(ids(OTHER_QUEUE, null)).containsExactly(otherFinished);
    assertThat(redrive(otherFailed).kind()).isEqualTo(RedriveResult.Kind.NOT_FOUND);
    assertThat(submit("finished", now() + HOUR).generation()).isGreaterThan(ended.generation());
  }

  @Test
  void aRedrivenTaskOutlivesItsEarlierRetention() {
    store().configure(QUEUE, retention(HOUR, 2 * tickMillis()));
    TaskId id = failed("a");
    redrive(id);
    touch(key("a"), now() + HOUR);
    pass(3);
    assertThat(record(id).state()).isEqualTo(TaskState.DELAYED);
    store().configure(QUEUE, retention(HOUR, HOUR));
    for (int i = 0; i < 20; i++) {
      finish(won(due(null)));
    }
    assertThat(record(id).state()).isEqualTo(TaskState.DELAYED);
    assertThat(find(key("a")).orElseThrow().id()).isEqualTo(id);
  }

  @Test
  void aDocumentIsWrittenOnlyIfItsVersionIsTheExpectedOne() {
    DocumentKind kind = DocumentKind.QUEUE;
    assertThat(get(store().document(kind, "a"))).isEmpty();
    assertThat(get(store().writeDocument(kind, "a", 1, bytes("no")))).as("no document exists").isFalse();
    assertThat(get(store().writeDocument(kind, "a", 0, bytes("one")))).isTrue();
    assertThat(get(store().writeDocument(kind, "a", 0, bytes("no")))).as("a document exists").isFalse();
    Document first = get(store().document(kind, "a")).orElseThrow();
    assertThat(first.name()).isEqualTo("a");
    assertThat(first.content()).isEqualTo(bytes("one"));
    assertThat(first.version()).isPositive();
    assertThat(get(store().writeDocument(kind, "a", first.version() + 1, bytes("no")))).isFalse();
    get(store().writeDocument(kind, "b", 0, bytes("b")));
    assertThat(get(store().writeDocument(kind, "a", first.version(), bytes("two")))).isTrue();
    Document second = get(store().document(kind, "a")).orElseThrow();
    assertThat(second.content()).isEqualTo(bytes("two"));
    assertThat(second.version()).as("a version grows by one").isEqualTo(first.version() + 1);
    assertThat(get(store().writeDocument(kind, "a", first.version(), bytes("no")))).as("an old version").isFalse();
  }

  @Test
  void aDeletedDocumentIsGoneAndItsVersionsAreNotReused() {
    DocumentKind kind = DocumentKind.PERMITS;
    get(store().writeDocument(kind, "a", 0, bytes("one")));
    long first = get(store().document(kind, "a")).orElseThrow().version();
    get(store().writeDocument(kind, "a", first, bytes("two")));
    assertThat(get(store().writeDocument(kind, "a", first, null))).as("an old version").isFalse();
    assertThat(get(store().writeDocument(kind, "a", first + 1, null))).isTrue();
    assertThat(get(store().document(kind, "a"))).isEmpty();
    assertThat(get(store().documents(kind))).isEmpty();
    assertThat(get(store().writeDocument(kind, "a", first + 1, bytes("no")))).isFalse();
    assertThat(get(store().writeDocument(kind, "a", 0, null))).as("a delete of an absent document succeeds")
        .isTrue();
    assertThat(get(store().writeDocument(kind, "a", 0, bytes("three")))).isTrue();
    assertThat(get(store().document(kind, "a")).orElseThrow().version()).isGreaterThan(first + 1);
  }

  @Test
  void documentsAreListedByNameWithinTheirKind() {
    for (String name : List.of("b", "a/ü", "c", "a")) {
      get(store().writeDocument(DocumentKind.CALENDAR, name, 0, bytes(name)));
    }
    get(store().writeDocument(DocumentKind.NODE, "a", 0, bytes("node")));
    List<Document> calendars = get(store().documents(DocumentKind.CALENDAR));
    assertThat(calendars).extracting(Document::name).containsExactly("a", "a/ü", "b", "c");
    assertThat(calendars).extracting(document -> new String(document.content(), StandardCharsets.UTF_8))
        .containsExactly("a", "a/ü", "b", "c");
    assertThat(get(store().documents(DocumentKind.NODE))).hasSize(1);
    assertThat(get(store().documents(DocumentKind.CLUSTER))).isEmpty();
    assertThat(get(store().document(DocumentKind.NODE, "a")).orElseThrow().content()).isEqualTo(bytes("node"));
    assertThat(get(store().document(DocumentKind.NODE, "b"))).isEmpty();
  }

  @Test
  void aDocumentMayBeEmptyOrLarge() {
    byte[] large = new byte[Limits.MAX_PAYLOAD_BYTES];
    new Random(2).nextBytes(large);
    get(store().writeDocument(DocumentKind.CLUSTER, "empty", 0, new byte[0]));
    get(store().writeDocument(DocumentKind.CLUSTER, "large", 0, large));
    assertThat(get(store().document(DocumentKind.CLUSTER, "empty")).orElseThrow().content()).isEmpty();
    assertThat(get(store().document(DocumentKind.CLUSTER, "large")).orElseThrow().content()).isEqualTo(large);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void anEmptyBatchHasAnEmptyResult() {
    assertThat(get(store().submit(List.of()))).isEmpty();
    assertThat(get(store().touch(List.of()))).isEmpty();
    assertThat(get(store().cancel(List.of()))).isEmpty();
    assertThat(get(store().due(List.of()))).isEmpty();
    assertThat(get(store().park(List.of()))).isEmpty();
    ClaimBatch claims = get(store().claim(List.of()));
    assertThat(claims.results()).isEmpty();
    assertThat(get(store().extend(List.of()))).isEmpty();
    assertThat(get(store().settle(List.of()))).isEmpty();
    assertThat(get(store().redrive(List.of()))).isEmpty();
  }

  @Test
  void theSlotsAreAPowerOfTwoAndTheirClocksAdvance() {
    assertThat(Integer.bitCount(store().slotCount())).isEqualTo(1);
    assertThat(store().slotCount()).isBetween(1, 1 << 16);
    for (int slot : new int[]{0, store().slotCount() - 1}) {
      long before = get(store().timeMicros(slot));
      pass(1);
      long after = get(store().timeMicros(slot));
      assertThat(after - before).isGreaterThanOrEqualTo(tickMillis() * 1_000 / 2);
    }
  }

  @Test
  void aStoreStatesItsKindAndDurability() {
    assertThat(store().kind()).matches("[a-z][a-z0-9-]*");
    assertThat(store().durability().durabilityClass()).isIn("D", "B", "NONE");
    assertThat(store().durability().windowMillis()).isNotNegative();
    assertThat(store().durability().detail()).isNotEmpty();
  }

  @Test
  void completedCallsSurviveCloseAndReopen() {
    store().configure(QUEUE, attempts(5));
    TaskId waiting = created(withAttempts(draft("waiting", now() + HOUR), 3));
    TaskId parked = parked(draft("parked", now()));
    TaskId running = due("running");
    TaskRecord claimed = won(running);
    long successor = touch(key("running"), now() + 2 * HOUR).generation();
    TaskId finished = due("finished");
    finish(won(finished));
    SubmitResult first = submit(withIdempotency(draft(null, now() + HOUR), "request", 1));
    get(store().writeDocument(DocumentKind.QUEUE, QUEUE, 0, bytes("settings")));
    TaskRecord before = record(waiting);
    reopenStore();
    store().configure(QUEUE, attempts(5));
    TaskRecord after = record(waiting);
    assertThat(after).hasToString(before.toString());
    assertThat(after.body()).isEqualTo(before.body());
    assertThat(after.maxAttempts()).isEqualTo(3);
    assertThat(wakes(waiting)).containsExactly(before.wakeAt());
    assertThat(allParked(QUEUE)).extracting(entry -> entry.id()).containsExactly(parked);
    assertThat(record(finished).state()).isEqualTo(TaskState.FINISHED);
    assertThat(submit(withIdempotency(draft(null, now()), "request", 1)).id()).isEqualTo(first.id());
    Optional<Document> document = get(store().document(DocumentKind.QUEUE, QUEUE));
    assertThat(document.orElseThrow().content()).isEqualTo(bytes("settings"));
    assertThat(extend(claimed, 3 * HOUR).kind()).isEqualTo(ExtendResult.Kind.EXTENDED);
    finish(claimed);
    assertThat(record(running).generation()).isEqualTo(successor);
    assertThat(touch(key("waiting"), now()).generation()).isGreaterThan(before.generation());
    won(waiting);
    won(parked);
  }

  @Test
  void aClosedStoreRefusesCalls() {
    store().close();
    Draft draft = draft("a", 0);
    assertThat(failure(store().submit(List.of(draft)))).isInstanceOf(StoreException.class);
    assertThat(failure(store().cancel(List.of(id(draft.id()))))).isInstanceOf(StoreException.class);
    assertThat(failure(store().claim(List.of(new Claim(draft.id(), HOUR)))))
        .isInstanceOf(StoreException.class);
    assertThat(failure(store().find(id(draft.id())))).isInstanceOf(StoreException.class);
    assertThat(failure(store().due(List.of(new DueScan(0, 0, null, 1, 1)))))
        .isInstanceOf(StoreException.class);
    assertThat(failure(store().counts())).isInstanceOf(StoreException.class);
    assertThat(failure(store().documents(DocumentKind.CALENDAR))).isInstanceOf(StoreException.class);
    store().close();
  }
}
