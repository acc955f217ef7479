package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Cancellation;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.NewerVersionException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A record that a newer Foliot wrote stops neither the store nor other tasks. Its checksum matches, but this version
 * cannot decode it.
 */
final class UnreadableTest {
  @TempDir
  Path temporary;

  private final StoreHarness harness = StoreHarness.create();
  private Path folder = Path.of("");
  private TaskId newer = new TaskId(0, 0);
  private TaskId usual = new TaskId(0, 0);
  private byte[] bytes = {};

  @BeforeEach
  void make() {
    folder = temporary.resolve("store");
    try (RocksDbStore store = harness.open(folder)) {
      newer = harness.submit(store, "newer", harness.now());
      usual = harness.submit(store, "usual", harness.now());
    }
    try (Database db = Database.open(folder.resolve("rocks"), StoreHarness.SMALL, false)) {
      bytes = StoreHarness.ofNewerVersion(Checksum.mark(newer),
          Objects.requireNonNull(db.get(Family.RECORDS, Layout.recordKey(newer))));
      Batch batch = new Batch(db.familyIds(), 1_000);
      batch.put(Family.RECORDS, Layout.id(new Bytes(16), newer), new Bytes(bytes.length).bytes(bytes));
      batch.put(Family.META, new Bytes(16).bytes(Layout.META_FLOOR), new Bytes(8).u64(0));
      db.write(batch);
    }
  }

  @Test
  void afterAClaimScansSkipTheNewerRecord() {
    try (RocksDbStore store = harness.open(folder)) {
      assertThat(StoreHarness.index(store)).extracting(DueEntry::id).contains(newer, usual);
      List<ClaimResult> results = StoreHarness.get(store.claim(List.of(new Claim(newer, StoreHarness.HOUR),
          new Claim(usual, StoreHarness.HOUR)))).results();
      assertThat(results.get(0)).isEqualTo(ClaimResult.Gone.ABSENT);
      assertThat(results.get(1)).isInstanceOf(ClaimResult.Won.class);
      assertThat(StoreHarness.index(store)).extracting(DueEntry::id).doesNotContain(newer).contains(usual);
      assertThat(store.stats().unreadable()).isEqualTo(1);
      assertThat(store.failure()).isEmpty();
    }
    assertIsUnchanged();
  }

  @Test
  void onlyCallsForTheNewerRecordFail() {
    TaskRef newerKey = new TaskRef.ByKey(StoreHarness.QUEUE, "newer");
    try (RocksDbStore store = harness.open(folder)) {
      Throwable failure = StoreHarness.failure(store.cancel(List.of(newerKey, new TaskRef.ById(usual))));
      assertThat(failure).isInstanceOf(ItemsFailedException.class).hasCauseInstanceOf(StoreAwayException.class);
      List<?> results = ((ItemsFailedException) failure).results();
      assertThat(results.get(0)).isNull();
      assertThat(((CancelResult) Objects.requireNonNull(results.get(1))).kind()).isEqualTo(Cancellation.CANCELLED);
      assertThat(StoreHarness.failure(store.submit(List.of(harness.draft("newer", harness.now())))))
          .as("no second live task for its key").isInstanceOf(StoreAwayException.class);
      assertThat(StoreHarness.failure(store.cancel(List.of(new TaskRef.ById(newer)))))
          .isInstanceOf(StoreAwayException.class);
      assertThat(StoreHarness.failure(store.find(newerKey))).hasMessageContaining("version=99");
      ItemsFailedException found = (ItemsFailedException) StoreHarness.failure(store.find(List.of(newer, usual)));
      assertThat(found.results().get(0)).isNull();
      assertThat(found.results().get(1)).asInstanceOf(InstanceOfAssertFactories.OPTIONAL).isPresent();
      assertThat(StoreHarness.get(store.query(StoreHarness.QUEUE, null, 10, null)).tasks())
          .extracting(TaskRecord::id).containsExactly(usual);
      harness.submit(store, "another", harness.now());
      assertThat(store.failure()).isEmpty();
    }
    assertIsUnchanged();
  }

  @Test
  void aDocumentOfANewerVersionFailsOnlyItsCalls() {
    String name = "name";
    byte[] content = {1, 2, 3};
    try (RocksDbStore store = harness.open(folder)) {
      assertThat(StoreHarness.get(store.writeDocument(DocumentKind.FLEET, name, 0, content))).isTrue();
    }
    byte[] framed = StoreHarness.ofNewerVersion(Checksum.mark(name), DocumentFormat.frame(name, content));
    try (Database db = Database.open(folder.resolve("rocks"), StoreHarness.SMALL, false)) {
      Batch batch = new Batch(db.familyIds(), 1_000);
      batch.put(Family.DOCUMENTS, Layout.document(new Bytes(64), DocumentKind.FLEET, name),
          new Bytes(64).u64(1).bytes(framed));
      batch.put(Family.META, new Bytes(16).bytes(Layout.META_FLOOR), new Bytes(8).u64(0));
      db.write(batch);
    }
    try (RocksDbStore store = harness.open(folder)) {
      assertThat(StoreHarness.failure(store.writeDocument(DocumentKind.FLEET, name, 1, content)))
          .isInstanceOf(NewerVersionException.class);
      assertThat(StoreHarness.failure(store.document(DocumentKind.FLEET, name)))
          .isInstanceOf(NewerVersionException.class);
      assertThat(StoreHarness.get(store.writeDocument(DocumentKind.FLEET, "another", 0, content))).isTrue();
      harness.submit(store, "another", harness.now());
      assertThat(store.failure()).isEmpty();
    }
  }

  private void assertIsUnchanged() {
    try (Database db = Database.open(folder.resolve("rocks"), StoreHarness.SMALL, false)) {
      assertThat(Arrays.equals(db.get(Family.RECORDS, Layout.recordKey(newer)), bytes)).isTrue();
    }
    assertThat(RocksDbStore.verify(folder, StoreHarness.SMALL, progress -> {}).damages())
        .anySatisfy(damage -> assertThat(damage.reason()).contains("version=99"));
  }
}
