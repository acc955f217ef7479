package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.core.TaskId;
import io.foliot.core.store.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** {@link Manifest} reads the same information from a MANIFEST as RocksDB. */
final class ManifestTest {
  @TempDir
  Path temporary;

  private final StoreHarness harness = StoreHarness.create();

  private static Manifest read(Path rocks) throws IOException {
    return Manifest.read(Objects.requireNonNull(Manifest.current(rocks)));
  }

  @Test
  void filesAndLastSequenceEqualThoseOfRocksDb() throws IOException {
    Path folder = temporary.resolve("store");
    Random random = new Random(3);
    for (int session = 0; session < 5; session++) {
      try (RocksDbStore store = harness.open(folder)) {
        for (int i = 0; i < 150; i++) {
          byte[] payload = new byte[random.nextInt(60_000)];
          StoreHarness.get(store.submit(List.of(StoreHarness.draft(harness.clock, "key " + i, harness.now() + i,
              new Body(payload, "x/y", Map.of())))));
        }
      }
    }
    Path rocks = folder.resolve("rocks");
    Manifest manifest = read(rocks);
    assertThat(manifest.isUnderstood()).isTrue();
    assertThat(manifest.wholeBytes()).isEqualTo(manifest.length());
    try (Database db = Database.open(rocks, StoreHarness.SMALL, false)) {
      Manifest rewritten = read(rocks);
      assertThat(rewritten.isUnderstood()).isTrue();
      Map<Long, Long> files = new TreeMap<>();
      for (LiveFileMetaData file : db.rocksDb().getLiveFilesMetaData()) {
        files.put(Long.parseLong(file.fileName().replaceAll("[^0-9]", "")), file.size());
      }
      assertThat(rewritten.fileBytes()).isEqualTo(files).isNotEmpty();
      assertThat(manifest.fileBytes()).isEqualTo(files);
      assertThat(rewritten.lastSequence()).isEqualTo(db.rocksDb().getLatestSequenceNumber());
      List<String> logs = new ArrayList<>();
      try (Stream<Path> all = Files.list(rocks)) {
        all.map(Path::getFileName).map(Path::toString).filter(name -> name.endsWith(".log")).forEach(logs::add);
      }
      assertThat(logs).hasSize(1);
      assertThat(rewritten.firstLog()).isPositive()
          .isLessThanOrEqualTo(Long.parseLong(logs.getFirst().replace(".log", "")));
    }
  }

  @Test
  void theLastSequenceIsKnownAfterAFullMerge() throws Exception {
    Path folder = temporary.resolve("store");
    try (RocksDbStore store = harness.open(folder)) {
      for (int i = 0; i < 50; i++) {
        TaskId id = harness.submit(store, "key " + i, harness.now());
        StoreHarness.settle(store, StoreHarness.claim(store, id), new Outcome.Finished());
      }
    }
    Path rocks = folder.resolve("rocks");
    for (int i = 0; i < 3; i++) {
      long last = mergeAll(rocks);
      assertThat(read(rocks).lastSequence()).isEqualTo(last);
      harness.open(folder).close();
    }
  }

  /**
   * Merges all files into the lowest level, where entries lose their sequence numbers. Returns the last sequence number
   * of the database.
   */
  private static long mergeAll(Path rocks) throws RocksDBException {
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    for (Family family : Family.values()) {
      families.add(new ColumnFamilyDescriptor(family.text.getBytes(StandardCharsets.US_ASCII)));
    }
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (DBOptions settings = new DBOptions();
        CompactRangeOptions forced = new CompactRangeOptions()
            .setBottommostLevelCompaction(CompactRangeOptions.BottommostLevelCompaction.kForce);
        RocksDB db = RocksDB.open(settings, rocks.toString(), families, handles)) {
      for (ColumnFamilyHandle handle : handles) {
        db.compactRange(handle, null, null, forced);
        handle.close();
      }
      return db.getLatestSequenceNumber();
    }
  }
}
