package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.DamagedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.RocksIterator;

/** Final tasks are kept for their retention. Then they are deleted completely, with their keys and bodies. */
final class HistoryTest {
  private static final long HOUR = StoreHarness.HOUR;
  private static final Body LARGE = new Body(new byte[5_000], "x/y", Map.of());

  @TempDir
  Path temporary;

  private final StoreHarness harness = StoreHarness.create();

  private Path folder() {
    return temporary.resolve("store");
  }

  /** Returns the number of entries in each family of the closed store's database, without empty families. */
  private Map<Family, Integer> entryCounts() {
    Map<Family, Integer> counts = new EnumMap<>(Family.class);
    try (Database db = Database.open(folder().resolve("rocks"), StoreHarness.SMALL, false)) {
      for (Family family : Family.values()) {
        try (RocksIterator iterator = db.iterator(family)) {
          int count = 0;
          for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
            count++;
          }
          if (count > 0) {
            counts.put(family, count);
          }
        }
      }
    }
    return counts;
  }

  /** Submits, claims and settles a task. Returns its id. */
  private TaskId submitAndSettle(RocksDbStore store, String key, Outcome outcome) {
    Draft draft = StoreHarness.draft(harness.clock, key, harness.now(), LARGE);
    TaskId id = StoreHarness.get(store.submit(List.of(draft))).getFirst().id();
    StoreHarness.settle(store, StoreHarness.claim(store, id), outcome);
    return id;
  }

  /** Submits and cancels {@code count} tasks, one by one. Each commit also does a step of housekeeping. */
  private void commits(RocksDbStore store, int count) {
    for (int i = 0; i < count; i++) {
      TaskId id = harness.submit(store, null, harness.now());
      StoreHarness.get(store.cancel(List.of(new TaskRef.ById(id))));
    }
  }

  @Test
  void expiredTasksLeaveNeitherKeysNorBodies() {
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, HOUR, 24 * HOUR));
      for (int i = 0; i < 100; i++) {
        submitAndSettle(store, "finished " + i, new Outcome.Finished());
        submitAndSettle(store, "failed " + i, new Outcome.Failed());
        harness.clock.advance(Duration.ofSeconds(30));
      }
      assertThat(StoreHarness.get(store.counts()).get(StoreHarness.QUEUE))
          .isEqualTo(new QueueCounts(0, 0, 0, 100, 100, 0));
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, 0, 0));
      harness.clock.advance(Duration.ofHours(2));
      commits(store, 20);
      assertThat(StoreHarness.get(store.counts()).get(StoreHarness.QUEUE))
          .isEqualTo(new QueueCounts(0, 0, 0, 0, 100, 0));
    }
    Map<Family, Integer> counts = entryCounts();
    assertThat(counts).containsEntry(Family.HISTORY, 100).containsEntry(Family.KEYS, 100)
        .containsEntry(Family.BODIES, 100);
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, 0, 0));
      harness.clock.advance(Duration.ofHours(40));
      commits(store, 20);
      assertThat(StoreHarness.get(store.counts()).get(StoreHarness.QUEUE)).isEqualTo(QueueCounts.NONE);
    }
    assertThat(entryCounts()).containsOnlyKeys(Family.META);
  }

  /** Replaces a history record of the closed store with a record that this version cannot read. */
  private void makeUnreadable(Bucket bucket, TaskId id) {
    try (Database db = Database.open(folder().resolve("rocks"), StoreHarness.SMALL, false)) {
      byte[] record = Objects.requireNonNull(db.get(Family.HISTORY, Layout.historyKey(bucket, id)));
      Batch batch = new Batch(db.familyIds(), 1_000);
      byte[] newer = StoreHarness.ofNewerVersion(Checksum.mark(id), record);
      batch.put(Family.HISTORY, Layout.history(new Bytes(32), bucket, id), new Bytes(newer.length).bytes(newer));
      batch.put(Family.META, new Bytes(16).bytes(Layout.META_FLOOR), new Bytes(8).u64(0));
      db.write(batch);
    }
  }

  /** Returns a task that has finished, and whose kept record has been made unreadable. */
  private TaskId finishedAndMadeUnreadable() {
    TaskId id;
    Bucket bucket;
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, HOUR, HOUR));
      id = submitAndSettle(store, "a", new Outcome.Finished());
      bucket = Bucket.of(StoreHarness.get(store.find(new TaskRef.ById(id))).orElseThrow());
    }
    makeUnreadable(bucket, id);
    return id;
  }

  @Test
  void anUnreadableExpiredRecordLeavesNoPayload() {
    finishedAndMadeUnreadable();
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, 0, 0));
      harness.clock.advance(Duration.ofHours(3));
      commits(store, 20);
      assertThat(store.stats().unreadable()).isEqualTo(1);
      assertThat(StoreHarness.get(store.submit(List.of(harness.draft("a", harness.now())))).getFirst().kind())
          .isEqualTo(SubmitResult.Kind.CREATED);
    }
    assertThat(entryCounts()).doesNotContainKeys(Family.HISTORY, Family.BODIES);
  }

  @Test
  void anUnreadableExpiredRecordDoesNotTakeThePayloadOfALiveTask() {
    TaskId id = finishedAndMadeUnreadable();
    Body live = new Body(new byte[6_000], "x/y", Map.of());
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, 0, 0));
      Draft draft = new Draft(id, StoreHarness.QUEUE, "a", Due.at(harness.now() + 10 * HOUR), live, 0, OnConflict.RESET,
          null);
      SubmitResult created = StoreHarness.get(store.submit(List.of(draft))).getFirst();
      assertThat(created.kind()).isEqualTo(SubmitResult.Kind.CREATED);
      assertThat(created.id()).isEqualTo(id);
      harness.clock.advance(Duration.ofHours(3));
      commits(store, 20);
    }
    assertThat(entryCounts()).as("the bucket was dropped").doesNotContainKey(Family.HISTORY);
    try (RocksDbStore store = harness.open(folder())) {
      assertThat(StoreHarness.get(store.find(new TaskRef.ById(id))).orElseThrow().body().payload())
          .hasSize(live.payload().length);
    }
  }

  @Test
  void aQueryFailsIfABlockOfTheFirstBucketIsDamaged() throws IOException {
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, 24 * HOUR, 24 * HOUR));
      for (int i = 0; i < 60; i++) {
        // The keys make each bucket several blocks long.
        String key = i + "x".repeat(200);
        submitAndSettle(store, "finished " + key, new Outcome.Finished());
        submitAndSettle(store, "failed " + key, new Outcome.Failed());
      }
    }
    Path table;
    try (Database db = Database.open(folder().resolve("rocks"), StoreHarness.SMALL, false)) {
      List<LiveFileMetaData> tables = db.rocksDb().getLiveFilesMetaData().stream()
          .filter(file -> new String(file.columnFamilyName(), StandardCharsets.UTF_8).equals(Family.HISTORY.text))
          .toList();
      assertThat(tables).hasSize(1);
      table = folder().resolve("rocks").resolve(tables.getFirst().fileName().substring(1));
    }
    byte[] bytes = Files.readAllBytes(table);
    bytes[bytes.length / 4] ^= 1;
    Files.write(table, bytes);
    try (RocksDbStore store = harness.open(folder())) {
      assertThat(StoreHarness.failure(store.query(StoreHarness.QUEUE, null, 1_000, null)))
          .isInstanceOf(DamagedException.class);
    }
  }

  @Test
  void aKeyWithALiveTaskOutlivesAnExpiredTask() {
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, 100 * HOUR, HOUR, HOUR, HOUR));
      submitAndSettle(store, "a", new Outcome.Finished());
      TaskId redriven = submitAndSettle(store, "b", new Outcome.Failed());
      TaskId second = harness.submit(store, "a", harness.now() + 10 * HOUR);
      StoreHarness.get(store.redrive(List.of(new Redrive(StoreHarness.QUEUE, redriven))));
      harness.clock.advance(Duration.ofHours(3));
      commits(store, 20);
      assertThat(StoreHarness.get(store.find(new TaskRef.ByKey(StoreHarness.QUEUE, "a"))).orElseThrow().id())
          .isEqualTo(second);
      assertThat(StoreHarness.get(store.find(new TaskRef.ByKey(StoreHarness.QUEUE, "b"))).orElseThrow().body())
          .isEqualTo(LARGE);
    }
  }

  @Test
  void noReadShowsAnExpiredTaskWhoseBucketStillExists() {
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, HOUR, HOUR));
      TaskId id = submitAndSettle(store, "a", new Outcome.Finished());
      harness.clock.advance(Duration.ofMillis(HOUR));
      assertThat(StoreHarness.get(store.find(new TaskRef.ById(id)))).isEmpty();
      assertThat(StoreHarness.get(store.find(new TaskRef.ByKey(StoreHarness.QUEUE, "a")))).isEmpty();
      assertThat(StoreHarness.get(store.query(StoreHarness.QUEUE, null, 10, null)).tasks()).isEmpty();
    }
    assertThat(entryCounts()).containsKey(Family.HISTORY);
  }

  @Test
  void answersToRequestsExpireAfterADay() {
    Draft.Idempotency request = new Draft.Idempotency("request", 1);
    try (RocksDbStore store = harness.open(folder())) {
      for (int day = 0; day < 4; day++) {
        Draft draft = new Draft(harness.draft(null, 0).id(), StoreHarness.QUEUE, null,
            Due.at(harness.now() + 1_000 * HOUR),
            null, 0, OnConflict.RESET, request);
        assertThat(StoreHarness.get(store.submit(List.of(draft))).getFirst().kind())
            .isEqualTo(SubmitResult.Kind.CREATED);
        assertThat(StoreHarness.get(store.submit(List.of(draft))).getFirst().kind())
            .isEqualTo(SubmitResult.Kind.REPEATED);
        harness.clock.advance(Duration.ofHours(day == 3 ? 60 : 24));
      }
      commits(store, 20);
    }
    assertThat(entryCounts()).doesNotContainKey(Family.ANSWERS);
  }

  @Test
  void anIdSubmittedTwiceLeavesNoEntriesBehind() {
    try (RocksDbStore store = harness.open(folder())) {
      Draft draft = StoreHarness.draft(harness.clock, null, harness.now(), LARGE);
      Draft again = new Draft(draft.id(), draft.queue(), null, Due.at(harness.now() + 5), Body.EMPTY, 0,
          OnConflict.RESET,
          null);
      StoreHarness.get(store.submit(List.of(draft)));
      StoreHarness.get(store.submit(List.of(again, draft)));
      StoreHarness.get(store.submit(List.of(again)));
      assertThat(StoreHarness.index(store)).hasSize(1);
      assertThat(StoreHarness.get(store.counts()).get(StoreHarness.QUEUE))
          .isEqualTo(new QueueCounts(1, 0, 0, 0, 0, 0));
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, 0, 0));
      StoreHarness.get(store.cancel(List.of(new TaskRef.ById(draft.id()))));
    }
    assertThat(entryCounts()).containsOnlyKeys(Family.META);
  }

  @Test
  void largeBodiesFollowTheirTaskThroughResetsAndSuccessors() {
    TaskRef.ByKey ref = new TaskRef.ByKey(StoreHarness.QUEUE, "a");
    Body larger = new Body(new byte[7_000], "x/y", Map.of("h", "v"));
    TaskId id;
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, HOUR, HOUR));
      Draft draft = StoreHarness.draft(harness.clock, "a", harness.now(), LARGE);
      id = StoreHarness.get(store.submit(List.of(draft))).getFirst().id();
      var running = StoreHarness.claim(store, id);
      assertThat(running.body()).isEqualTo(LARGE);
      StoreHarness.get(store.submit(List.of(StoreHarness.draft(harness.clock, "a", harness.now(), larger))));
    }
    assertThat(entryCounts()).containsEntry(Family.BODIES, 2);
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(1, HOUR, HOUR, HOUR, HOUR));
      var running = StoreHarness.get(store.find(ref)).orElseThrow();
      assertThat(running.body()).isEqualTo(LARGE);
      StoreHarness.settle(store, running, new Outcome.Finished());
      assertThat(StoreHarness.get(store.find(ref)).orElseThrow().body()).isEqualTo(larger);
    }
    assertThat(entryCounts()).containsEntry(Family.BODIES, 1);
    try (RocksDbStore store = harness.open(folder())) {
      StoreHarness.get(store.submit(
          List.of(StoreHarness.draft(harness.clock, "a", harness.now(), Body.json("1")))));
      assertThat(StoreHarness.get(store.find(ref)).orElseThrow().body()).isEqualTo(Body.json("1"));
    }
    assertThat(entryCounts()).doesNotContainKey(Family.BODIES);
  }
}
