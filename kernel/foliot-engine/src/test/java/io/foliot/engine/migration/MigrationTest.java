package io.foliot.engine.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.SlotHash;
import io.foliot.core.SystemClock;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.format.SealFormat;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class MigrationTest {
  private static final long HOUR = 3_600_000;
  private static final Duration PATIENCE = Duration.ofSeconds(1);
  private static final byte[] SETTINGS = "settings".getBytes(StandardCharsets.UTF_8);

  private static TaskStore store(int slots) {
    return new MemoryStore(slots, new SystemClock(),
        () -> new Token(ThreadLocalRandom.current().nextLong(), ThreadLocalRandom.current().nextLong()));
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static Draft draft(int number, long delayMillis) {
    String key = number % 2 == 0 ? "key " + number : null;
    return new Draft(TaskId.of(System.currentTimeMillis(), key == null ? number : SlotHash.of("q", key), number), "q",
        key, Due.after(delayMillis), Body.json("" + number), 0, OnConflict.RESET, null);
  }

  /** Fills a store with waiting, running and retried tasks, some finished tasks, and two documents of settings. */
  private static void fill(TaskStore store, int tasks) {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      drafts.add(draft(i, i % 3 == 0 ? 0 : HOUR + i));
    }
    get(store.submit(drafts));
    List<Claim> claims = drafts.stream().filter(draft -> draft.due() == Due.NOW).limit(40)
        .map(draft -> new Claim(draft.id(), HOUR)).toList();
    List<ClaimResult> claimed = get(store.claim(claims)).results();
    for (int i = 0; i < claimed.size(); i++) {
      var task = ((ClaimResult.Won) claimed.get(i)).task();
      if (i % 4 == 0) {
        get(store.settle(List.of(new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()),
            i % 8 == 0 ? new Outcome.Finished() : new Outcome.Retry(Due.after(HOUR)), task.claimedAt(), "detail"))));
      } else if (task.key() != null) {
        get(store.touch(List.of(new Touch(new TaskRef.ById(task.id()), Due.after(HOUR)))));
      }
    }
    get(store.writeDocument(DocumentKind.QUEUE, "q", 0, SETTINGS));
    get(store.writeDocument(DocumentKind.API_KEY, "k", 0, SETTINGS));
  }

  private static Migration migration(TaskStore source, TaskStore target) {
    return new Migration(source, "the source", target, "the target", progress -> {});
  }

  private static StoreSeal.@Nullable State seal(TaskStore store) {
    return get(store.document(DocumentKind.CLUSTER, StoreSeal.NAME)).map(Document::content).map(SealFormat::decode)
        .map(StoreSeal::state).orElse(null);
  }

  /** Returns a store whose method {@code call} succeeds {@code after} times, and fails from then on. */
  private static TaskStore failing(TaskStore delegate, String call, int after) {
    AtomicInteger calls = new AtomicInteger();
    return (TaskStore) Proxy.newProxyInstance(TaskStore.class.getClassLoader(), new Class<?>[]{TaskStore.class},
        (proxy, method, arguments) -> {
          if (method.getName().equals(call) && calls.incrementAndGet() > after) {
            return CompletableFuture.failedFuture(new StoreException("the store is unavailable", null));
          }
          try {
            return method.invoke(delegate, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  @Test
  void allLiveTasksAndSettingsMoveAndTheSourceStaysSealed() {
    try (TaskStore source = store(16); TaskStore target = store(64)) {
      fill(source, 3_500);
      Fingerprint before = Fingerprint.of(source, progress -> {});
      Migration.Result result = migration(source, target).run(PATIENCE);
      // Five of the 3,500 tasks have finished.
      assertThat(result.tasks()).isEqualTo(3_495).isEqualTo(before.tasks());
      assertThat(result.checksum()).isEqualTo(Long.toHexString(before.sum()));
      assertThat(result.settings()).isEqualTo(2);
      assertThat(get(target.document(DocumentKind.QUEUE, "q")).orElseThrow().content()).isEqualTo(SETTINGS);
      assertThat(seal(source)).isEqualTo(StoreSeal.State.MOVED);
      assertThat(seal(target)).isNull();
      assertThat(Migration.release(source)).isTrue();
      assertThat(seal(source)).isNull();
    }
  }

  @Test
  void anInterruptedMigrationContinuesWhereItStopped() {
    try (TaskStore source = store(16); TaskStore target = store(64)) {
      fill(source, 4_500);
      assertThatThrownBy(() -> migration(source, failing(target, "adopt", 2)).run(PATIENCE))
          .isInstanceOf(StoreException.class);
      assertThat(seal(target)).isEqualTo(StoreSeal.State.FILLING);
      assertThat(seal(source)).isEqualTo(StoreSeal.State.MOVED);
      List<String> lines = new ArrayList<>();
      AtomicInteger pages = new AtomicInteger();
      TaskStore counted = (TaskStore) Proxy.newProxyInstance(TaskStore.class.getClassLoader(),
          new Class<?>[]{TaskStore.class}, (proxy, method, arguments) -> {
            if (method.getName().equals("adopt")) {
              pages.incrementAndGet();
            }
            return method.invoke(target, arguments);
          });
      Migration.Result result = new Migration(source, "the source", counted, "the target", lines::add).run(PATIENCE);
      assertThat(lines).contains("continuing after 2000 tasks");
      assertThat(pages).hasValue(3);
      assertThat(result.tasks()).isEqualTo(4_495);
      assertThat(seal(target)).isNull();
    }
  }

  @Test
  void aTargetThatDiffersIsNotOpened() {
    try (TaskStore source = store(16); TaskStore target = store(64)) {
      fill(source, 1_500);
      assertThatThrownBy(() -> migration(source, failing(target, "live", 1)).run(PATIENCE))
          .isInstanceOf(StoreException.class);
      get(target.submit(List.of(draft(999_999, HOUR))));
      assertThatThrownBy(() -> migration(source, target).run(PATIENCE)).isInstanceOf(MigrationException.class)
          .hasMessageContaining("the stores differ");
      assertThat(seal(target)).isEqualTo(StoreSeal.State.FILLING);
    }
  }

  @Test
  void aTargetThatHasTasksIsRefusedBeforeAnyChange() {
    try (TaskStore source = store(16); TaskStore target = store(64)) {
      fill(source, 10);
      fill(target, 10);
      assertThatThrownBy(() -> migration(source, target).run(PATIENCE)).isInstanceOf(MigrationException.class)
          .hasMessageContaining("live tasks already");
      assertThat(seal(source)).isNull();
    }
  }

  @Test
  void aTargetThatIsFilledFromElsewhereIsRefused() {
    try (TaskStore source = store(16); TaskStore target = store(64)) {
      fill(source, 10);
      get(target.writeDocument(DocumentKind.CLUSTER, StoreSeal.NAME, 0,
          SealFormat.encode(StoreSeal.of(StoreSeal.State.FILLING, "a third store"))));
      assertThatThrownBy(() -> migration(source, target).run(PATIENCE)).isInstanceOf(MigrationException.class)
          .hasMessageContaining("a third store");
    }
  }

  @Test
  void aSourceWhoseTasksAreInAnotherStoreIsRefused() {
    try (TaskStore a = store(16); TaskStore b = store(64); TaskStore c = store(16)) {
      fill(a, 10);
      migration(a, b).run(PATIENCE);
      assertThatThrownBy(() -> new Migration(a, "the source", c, "a third store", progress -> {}).run(PATIENCE))
          .isInstanceOf(MigrationException.class).hasMessageContaining("MOVED").hasMessageContaining("the target");
      assertThat(get(c.live(1, null)).tasks()).isEmpty();
      assertThat(seal(c)).isNull();
      for (TaskRecord task : get(b.live(100, null)).tasks()) {
        get(b.cancel(List.of(new TaskRef.ById(task.id()))));
      }
      assertThatThrownBy(() -> migration(a, b).run(PATIENCE)).as("a second time")
          .isInstanceOf(MigrationException.class);
      assertThat(seal(b)).isNull();
    }
  }

  @Test
  void aSourceThatIsNotWholeIsRefused() {
    try (TaskStore a = store(16); TaskStore b = store(64); TaskStore c = store(16)) {
      fill(a, 3_000);
      assertThatThrownBy(() -> migration(a, failing(b, "adopt", 1)).run(PATIENCE)).isInstanceOf(StoreException.class);
      assertThatThrownBy(() -> new Migration(b, "the target", c, "a third store", progress -> {}).run(PATIENCE))
          .isInstanceOf(MigrationException.class).hasMessageContaining("FILLING");
      migration(a, b).run(PATIENCE);
      assertThat(seal(b)).isNull();
    }
  }

  @Test
  void theSeatsOfWorkersMoveWithTheTasks() {
    try (TaskStore source = store(16); TaskStore target = store(64)) {
      fill(source, 10);
      get(source.writeDocument(DocumentKind.FLEET, Fleet.SEATS, 0, SETTINGS));
      migration(source, target).run(PATIENCE);
      assertThat(get(target.document(DocumentKind.FLEET, Fleet.SEATS)).orElseThrow().content()).isEqualTo(SETTINGS);
    }
  }

  @Test
  void generationBodyAndOutstandingChangeTheChecksum() {
    try (TaskStore store = store(64)) {
      fill(store, 2);
      var task = get(store.live(1, null)).tasks().getFirst();
      long sum = Fingerprint.NONE.plus(task).sum();
      assertThat(Fingerprint.NONE.plus(task.edit().done()).sum()).isEqualTo(sum);
      assertThat(Fingerprint.NONE.plus(task.edit().generation(task.generation() + 1).done()).sum()).isNotEqualTo(sum);
      assertThat(Fingerprint.NONE.plus(task.edit().body(Body.json("other")).done()).sum()).isNotEqualTo(sum);
      assertThat(Fingerprint.NONE.plus(task.edit().outstanding(true).done()).sum()).isNotEqualTo(sum);
    }
  }
}
