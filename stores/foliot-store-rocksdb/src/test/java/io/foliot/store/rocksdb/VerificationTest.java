package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.format.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksIterator;

/** A verification reports damage, reports none in a whole store, and writes nothing. */
final class VerificationTest {
  @TempDir
  Path temporary;

  private final StoreHarness harness = StoreHarness.create();
  private final List<TaskId> ids = new ArrayList<>();
  private Path folder = Path.of("");

  @BeforeEach
  void make() {
    folder = temporary.resolve("store");
    try (RocksDbStore store = harness.open(folder)) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(5, StoreHarness.HOUR, StoreHarness.HOUR, StoreHarness.HOUR,
          StoreHarness.HOUR));
      for (int i = 0; i < 20; i++) {
        ids.add(StoreHarness.get(store.submit(List.of(StoreHarness.draft(harness.clock, i % 2 == 0 ? "key " + i : null,
            harness.now() + i, new Body(new byte[i % 3 == 0 ? 5_000 : 10], "x/y", Map.of()))))).getFirst().id());
      }
      harness.clock.advance(Duration.ofSeconds(1));
      StoreHarness.settle(store, StoreHarness.claim(store, ids.get(18)), new Outcome.Finished());
      StoreHarness.claim(store, ids.get(2));
      StoreHarness.get(store.cancel(List.of(new TaskRef.ById(ids.get(4)))));
      StoreHarness.get(store.park(StoreHarness.index(store).subList(0, 3)));
      DocumentKind kind = DocumentKind.QUEUE;
      assertThat(StoreHarness.get(store.writeDocument(kind, "doc", 0, new byte[]{1, 2, 3}))).isTrue();
      assertThat(StoreHarness.get(store.document(kind, "doc"))).map(Document::version).contains(1L);
    }
  }

  private VerifyReport verify() {
    return RocksDbStore.verify(folder, StoreHarness.SMALL, progress -> {});
  }

  private interface Change {
    void in(Database db, Batch batch);
  }

  private void change(Change change) {
    try (Database db = Database.open(folder.resolve("rocks"), StoreHarness.SMALL, false)) {
      Batch batch = new Batch(db.familyIds(), 1_000);
      change.in(db, batch);
      db.write(batch);
      db.flush();
    }
  }

  private static Bytes bytes(byte[] value) {
    return new Bytes(value.length).bytes(value);
  }

  /** Returns key and value of the first entry of a family. */
  private static byte[][] first(Database db, Family family) {
    try (RocksIterator iterator = db.iterator(family)) {
      iterator.seekToFirst();
      assertThat(iterator.isValid()).as("%s has an entry", family).isTrue();
      return new byte[][]{iterator.key(), iterator.value()};
    }
  }

  private void assertDamaged(String where, String reason) {
    VerifyReport report = verify();
    assertThat(report.isWhole()).isFalse();
    assertThat(report.damages()).as("%s", report).anySatisfy(damage -> {
      assertThat(damage.where()).isEqualTo(where);
      assertThat(damage.reason()).contains(reason);
    });
  }

  @Test
  void findsNoDamageInAWholeStoreAndWritesNothing() throws IOException {
    List<String> before = listing();
    VerifyReport report = verify();
    assertThat(report.damages()).isEmpty();
    assertThat(report.read()).containsEntry("records", 18L).containsEntry("history", 2L).containsEntry("documents", 1L);
    assertThat(report.read()).containsEntry("index", 15L).containsEntry("parked", 3L);
    assertThat(listing()).isEqualTo(before);
  }

  private List<String> listing() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      List<String> all = new ArrayList<>();
      for (Path file : files.sorted().toList()) {
        byte[] content = Files.isRegularFile(file) ? Files.readAllBytes(file) : new byte[0];
        all.add(file + " " + Files.getLastModifiedTime(file) + " " + Arrays.hashCode(content));
      }
      return all;
    }
  }

  @Test
  void findsADamagedRecord() {
    change((db, batch) -> {
      byte[][] entry = first(db, Family.RECORDS);
      entry[1][entry[1].length / 2] ^= 1;
      batch.put(Family.RECORDS, bytes(entry[0]), bytes(entry[1]));
    });
    assertDamaged("records", "checksum");
  }

  @Test
  void findsADamagedOrMissingBody() {
    change((db, batch) -> {
      byte[][] entry = first(db, Family.BODIES);
      entry[1][10] ^= 1;
      batch.put(Family.BODIES, bytes(entry[0]), bytes(entry[1]));
    });
    assertDamaged("records", "does not match its checksum");
    change((db, batch) -> batch.delete(Family.BODIES, bytes(first(db, Family.BODIES)[0])));
    assertDamaged("records", "missing=true");
  }

  @Test
  void findsABodyWithoutATask() {
    change((db, batch) -> batch.put(Family.BODIES, Layout.body(new Bytes(17), new TaskId(1, 2), false), new Bytes(1)));
    assertDamaged("bodies", "belongs to no task");
  }

  @Test
  void findsATaskWithoutItsEntry() {
    change((db, batch) -> batch.singleDelete(Family.INDEX, bytes(first(db, Family.INDEX)[0])));
    assertDamaged("index", "no entry");
    change((db, batch) -> batch.singleDelete(Family.PARKED, bytes(first(db, Family.PARKED)[0])));
    assertDamaged("parked", "no entry");
  }

  @Test
  void findsAnEntryWithoutItsTask() {
    change((db, batch) -> batch.put(Family.INDEX, Layout.index(new Bytes(26), 0, 5, new TaskId(1, 2)),
        new Bytes(4).u32(0)));
    assertDamaged("index", "the entry has no task");
  }

  @Test
  void findsASecondEntryOfATask() {
    TaskId id = ids.get(9);
    change((db, batch) -> batch.put(Family.INDEX, Layout.index(new Bytes(26), id.slot(4), 5, id), new Bytes(4).u32(0)));
    assertDamaged("index", "the task has a different entry");
  }

  @Test
  void findsMissingAndWrongKeys() {
    change((db, batch) -> batch.delete(Family.KEYS, Layout.key(new Bytes(20), 0, "key 6")));
    assertDamaged("keys", "the key of the task is missing");
    change((db, batch) -> batch.put(Family.KEYS, Layout.key(new Bytes(20), 0, "key 6"),
        new KeyLocation(new TaskId(1, 2), null).encode(new Bytes(16))));
    assertDamaged("keys", "leads to a task that does not exist");
    change((db, batch) -> batch.put(Family.KEYS, Layout.key(new Bytes(20), 0, "key 6"),
        new KeyLocation(ids.get(8), null).encode(new Bytes(16))));
    assertDamaged("keys", "a key leads to a task of another key");
  }

  @Test
  void findsDamagedHistoryDocumentsAndCounts() {
    change((db, batch) -> {
      byte[][] kept = first(db, Family.HISTORY);
      kept[1][10] ^= 1;
      batch.put(Family.HISTORY, bytes(kept[0]), bytes(kept[1]));
    });
    assertDamaged("history", "checksum");
    assertDamaged("meta", "the counts of a queue do not agree");
    change((db, batch) -> {
      byte[][] document = first(db, Family.DOCUMENTS);
      document[1][9] ^= 1;
      batch.put(Family.DOCUMENTS, bytes(document[0]), bytes(document[1]));
    });
    assertDamaged("documents", "checksum");
  }

  @Test
  void findsADamagedTableAndContinues() throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("rocks"))) {
      for (Path table : files.filter(file -> file.toString().endsWith(".sst")).toList()) {
        byte[] bytes = Files.readAllBytes(table);
        bytes[2] ^= 1;
        Files.write(table, bytes);
      }
    }
    VerifyReport report = verify();
    assertThat(report.damageCount()).isGreaterThan(3);
    assertThat(report.damages()).filteredOn(damage -> damage.where().equals("files"))
        .allSatisfy(damage -> assertThat(damage.what()).endsWith(".sst")).hasSizeGreaterThan(3);
  }

  @Test
  void findsACutManifest() throws IOException {
    Path manifest = Objects.requireNonNull(Manifest.current(folder.resolve("rocks")));
    byte[] bytes = Files.readAllBytes(manifest);
    Files.write(manifest, Arrays.copyOf(bytes, bytes.length * 3 / 4));
    assertDamaged("files", "the MANIFEST was cut");
  }
}
