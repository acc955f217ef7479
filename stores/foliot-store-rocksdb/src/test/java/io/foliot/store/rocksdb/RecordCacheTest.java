package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rules by which the cache admits and evicts records. */
final class RecordCacheTest {
  private static final long NOW = 1_000_000_000;
  private static final long DISTANT = NOW + Duration.ofHours(2).toMillis();
  private static final long SOON = NOW + Duration.ofMinutes(59).toMillis();

  @TempDir
  private Path folder = Path.of("");
  private final RecordCache cache = new RecordCache(1 << 20);

  private static TaskRecord.Edit record(int number, long dueAt) {
    return TaskRecord.edit(TaskId.of(NOW, 7, number), "q", "key-" + number).body(Body.json("1"))
        .state(TaskState.DELAYED).createdAt(NOW).changedAt(NOW).dueAt(dueAt).wakeAt(dueAt).generation(1);
  }

  @Test
  void aRecordThatWasJustCreatedForADistantTimeIsNotCached() {
    TaskRecord distant = record(1, DISTANT).done();
    cache.put(distant, true);
    assertThat(cache.get(distant.id())).isNull();
    TaskRecord soon = record(2, SOON).done();
    cache.put(soon, true);
    assertThat(cache.get(soon.id())).isEqualTo(soon);
    assertThat(cache.size()).isEqualTo(1);
  }

  @Test
  void aDistantRecordThatIsChangedOrRunsIsCached() {
    TaskRecord changed = record(1, DISTANT).generation(2).done();
    cache.put(changed, false);
    assertThat(cache.get(changed.id())).isEqualTo(changed);
    TaskRecord running = record(2, DISTANT).state(TaskState.RUNNING).attempt(1).token(new Token(1, 2)).claimedAt(NOW)
        .leaseEnd(NOW + 1_000).wakeAt(NOW + 1_000).done();
    cache.put(running, false);
    assertThat(cache.get(running.id())).isEqualTo(running);
  }

  @Test
  void aDistantTaskIsCachedFromItsFirstTouchOn() {
    StoreHarness harness = StoreHarness.create();
    try (RocksDbStore store = harness.open(folder.resolve("store"))) {
      TaskId id = harness.submit(store, "key", harness.now() + Duration.ofHours(24).toMillis());
      assertThat(store.stats().cachedRecords()).isZero();
      StoreHarness.get(store.touch(List.of(new Touch(new TaskRef.ById(id),
          Due.at(harness.now() + Duration.ofHours(25).toMillis())))));
      assertThat(store.stats().cachedRecords()).isEqualTo(1);
    }
  }

  @Test
  void aFinalTaskIsEvicted() {
    TaskRecord soon = record(1, SOON).done();
    cache.put(soon, true);
    assertThat(cache.bytes()).isPositive();
    cache.put(soon.edit().state(TaskState.FINISHED).done(), false);
    assertThat(cache.get(soon.id())).isNull();
    assertThat(cache.bytes()).isZero();
    assertThat(cache.size()).isZero();
    cache.put(record(2, DISTANT).done(), true);
    TaskRecord other = record(3, SOON).done();
    cache.put(other, true);
    assertThat(cache.size()).isEqualTo(1);
  }
}
