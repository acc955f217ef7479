package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Body;
import io.foliot.core.TaskId;
import io.foliot.core.TaskState;
import io.foliot.core.Token;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The rules by which the cache admits and evicts records. */
final class RecordCacheTest {
  private static final long NOW = 1_000_000_000;
  private static final long DISTANT = NOW + Duration.ofHours(2).toMillis();
  private static final long SOON = NOW + Duration.ofMinutes(59).toMillis();

  private final RecordCache cache = new RecordCache(1 << 20);

  private static TaskRecord.Edit record(int number, long dueAt) {
    return TaskRecord.edit(TaskId.of(NOW, 7, number), "q", "key-" + number).body(Body.json("1"))
        .state(TaskState.DELAYED).createdAt(NOW).changedAt(NOW).dueAt(dueAt).wakeAt(dueAt).generation(1);
  }

  @Test
  void aRecordThatWasJustCreatedForADistantTimeIsNotCached() {
    TaskRecord distant = record(1, DISTANT).done();
    cache.put(distant);
    assertThat(cache.get(distant.id())).isNull();
    TaskRecord soon = record(2, SOON).done();
    cache.put(soon);
    assertThat(cache.get(soon.id())).isEqualTo(soon);
    assertThat(cache.size()).isEqualTo(1);
  }

  @Test
  void aDistantRecordThatIsChangedOrRunsIsCached() {
    TaskRecord changed = record(1, DISTANT).changedAt(NOW + 1).generation(2).done();
    cache.put(changed);
    assertThat(cache.get(changed.id())).isEqualTo(changed);
    TaskRecord running = record(2, DISTANT).state(TaskState.RUNNING).attempt(1).token(new Token(1, 2)).claimedAt(NOW)
        .leaseEnd(NOW + 1_000).wakeAt(NOW + 1_000).done();
    cache.put(running);
    assertThat(cache.get(running.id())).isEqualTo(running);
  }

  @Test
  void aFinalTaskIsEvicted() {
    TaskRecord soon = record(1, SOON).done();
    cache.put(soon);
    assertThat(cache.bytes()).isPositive();
    cache.put(soon.edit().state(TaskState.FINISHED).done());
    assertThat(cache.get(soon.id())).isNull();
    assertThat(cache.bytes()).isZero();
    assertThat(cache.size()).isZero();
    cache.put(record(2, DISTANT).done());
    TaskRecord other = record(3, SOON).done();
    cache.put(other);
    assertThat(cache.size()).isEqualTo(1);
  }
}
