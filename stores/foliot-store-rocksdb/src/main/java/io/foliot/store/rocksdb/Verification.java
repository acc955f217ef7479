package io.foliot.store.rocksdb;

import io.foliot.core.TaskId;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.RecordParts;
import io.foliot.core.store.format.TaskRecordFormat;
import io.foliot.core.store.format.UnreadableException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Options;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.SstFileReader;

/**
 * A check of all data of a closed store. It writes nothing. It compares files, records, bodies and documents with
 * their checksums, and then with each other: a live task has exactly one entry in the index, a key leads to its task, a
 * body belongs to a task, and the recorded counts equal the numbers of tasks. Not thread-safe, and used once.
 */
final class Verification {
  /** Maximum number of damaged items that are reported one by one. One damaged file may contain millions of items. */
  private static final int MAX_REPORTED = 100;
  /** Maximum number of entries that are read and then checked together. */
  private static final int CHUNK = 1_000;

  private final StoreFolder folder;
  private final RocksDbOptions options;
  private final Consumer<String> progress;

  private final Map<String, Long> read = new LinkedHashMap<>();
  private final List<VerifyReport.Damage> damages = new ArrayList<>();
  private long damageCount;

  private final Queues queues = new Queues();
  private final TaskCounts counted = new TaskCounts(queues);
  private final Set<Bucket> buckets = new TreeSet<>();
  private long indexed;
  private long parked;
  private int slotCount;

  /**
   * Creates a verification.
   *
   * @param progress called often with a line of text about the progress
   */
  Verification(StoreFolder folder, RocksDbOptions options, Consumer<String> progress) {
    this.folder = folder;
    this.options = options;
    this.progress = progress;
  }

  VerifyReport run() {
    try {
      if (!Files.isDirectory(folder.rocks()) || !folder.holdsStore()) {
        throw new StoreException("there is no store in " + folder.path(), null);
      }
      FolderLock lock = FolderLock.of(folder);
      try {
        read();
      } finally {
        lock.close();
      }
    } catch (IOException e) {
      throw new StoreException("the folder cannot be read: folder=" + folder.path() + ": " + e, e);
    }
    return new VerifyReport(Collections.unmodifiableMap(read), damageCount, List.copyOf(damages));
  }

  private void read() throws IOException {
    files();
    tables();
    try (Database db = Database.openReadOnly(folder.rocks(), options)) {
      entries(db);
    } catch (StoreException e) {
      damage("files", folder.rocks().toString(), e);
    }
  }

  private void damage(String where, String what, String reason) {
    damageCount++;
    if (damages.size() < MAX_REPORTED) {
      damages.add(new VerifyReport.Damage(where, what, reason));
    }
  }

  private void damage(String where, String what, StoreException failure) {
    damage(where, what, String.valueOf(failure.getMessage()));
  }

  private void count(String kind) {
    long count = read.merge(kind, 1L, Long::sum);
    if (count % CHUNK == 0) {
      progress.accept(kind + ": " + count + " entries read");
    }
  }

  private void files() throws IOException {
    progress.accept("reading the log");
    try {
      new FolderCheck(folder).check();
    } catch (DamagedException e) {
      damage("files", folder.rocks().toString(), e);
    }
  }

  /** Checks all bytes of all table files against the checksums of their blocks. */
  private void tables() throws IOException {
    Path current = Manifest.current(folder.rocks());
    Manifest manifest = current == null || !Files.exists(current) ? null : Manifest.read(current);
    if (manifest == null || !manifest.isUnderstood()) {
      return;
    }
    NativeLibrary.load();
    for (long number : manifest.fileBytes().keySet()) {
      Path table = folder.rocks().resolve(FolderCheck.tableName(number));
      if (Files.exists(table)) {
        progress.accept("reading " + table.getFileName() + ", file " + (read.getOrDefault("tables", 0L) + 1) + " of "
            + manifest.fileBytes().size());
        table(table);
      }
    }
  }

  private void table(Path table) {
    read.merge("tables", 1L, Long::sum);
    try (Options settings = new Options(); SstFileReader reader = new SstFileReader(settings)) {
      reader.open(table.toString());
      reader.verifyChecksum();
    } catch (RocksDBException e) {
      damage("files", table.getFileName().toString(), String.valueOf(e.getMessage()));
    }
  }

  private interface EntryCheck {
    void run(byte[] key, byte[] value);
  }

  private interface ChunkCheck {
    void run(List<byte[]> keys, List<byte[]> values);
  }

  /** Reads a family in chunks. Entries after an unreadable block are left out, and the block is reported as damage. */
  private void chunks(Database db, Family family, ChunkCheck check) {
    try (RocksIterator iterator = db.iterator(family)) {
      List<byte[]> keys = new ArrayList<>(CHUNK);
      List<byte[]> values = new ArrayList<>(CHUNK);
      for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
        count(family.text.equals("default") ? "meta" : family.text);
        keys.add(iterator.key());
        values.add(iterator.value());
        if (keys.size() == CHUNK) {
          check.run(keys, values);
          keys.clear();
          values.clear();
        }
      }
      check.run(keys, values);
      Database.check(iterator);
    } catch (StoreException e) {
      damage(family.text, "unreadable part", e);
    }
  }

  private void each(Database db, Family family, EntryCheck check) {
    chunks(db, family, (keys, values) -> {
      for (int i = 0; i < keys.size(); i++) {
        try {
          check.run(keys.get(i), values.get(i));
        } catch (StoreException e) {
          damage(family.text, named(family, keys.get(i)), e);
        } catch (RuntimeException e) {
          damage(family.text, named(family, keys.get(i)), "it cannot be read: " + e);
        }
      }
    });
  }

  private static String named(Family family, byte[] key) {
    int idAt = switch (family) {
      case RECORDS, BODIES -> 0;
      case INDEX -> Layout.INDEX_ID_AT;
      case PARKED -> Layout.PARKED_ID_AT;
      case HISTORY -> Layout.HISTORY_ID_AT;
      case META, KEYS, ANSWERS, DOCUMENTS -> -1;
    };
    if (idAt >= 0 && key.length >= idAt + 16) {
      return Layout.id(key, idAt).toString();
    }
    return family == Family.DOCUMENTS
        ? new String(key, 1, key.length - 1, StandardCharsets.UTF_8)
        : HexFormat.of().formatHex(key);
  }

  private void entries(Database db) {
    Map<String, List<Long>> recorded = meta(db);
    if (slotCount == 0) {
      damage("meta", "slots", "the number of slots is missing");
      return;
    }
    chunks(db, Family.RECORDS, (keys, values) -> records(db, keys, values));
    each(db, Family.HISTORY, (key, value) -> history(db, key, value));
    index(db, Family.INDEX, indexed);
    index(db, Family.PARKED, parked);
    chunks(db, Family.KEYS, (keys, values) -> keys(db, keys, values));
    each(db, Family.BODIES, (key, value) -> body(db, key));
    each(db, Family.ANSWERS, (key, value) -> RecordParts.unframeAnswer(value));
    each(db, Family.DOCUMENTS, (key, value) -> Documents.decode(named(Family.DOCUMENTS, key), value));
    counts(recorded);
  }

  /** Reads the properties of the store, and returns the recorded counts. */
  private Map<String, List<Long>> meta(Database db) {
    TaskCounts recorded = new TaskCounts(queues);
    each(db, Family.META, (key, value) -> {
      if (Arrays.equals(key, Layout.META_SLOTS)) {
        slotCount = BytesReader.u32(value, 0);
      } else if (key.length == 5 && key[0] == Layout.META_QUEUE) {
        queues.set(BytesReader.u32(key, 1), new BytesReader(value).text());
      } else if ((key.length == 5 && key[0] == Layout.META_LIVE) || (key.length == 10 && key[0] == Layout.META_KEPT)) {
        recorded.read(key, value);
        if (key[0] == Layout.META_KEPT) {
          buckets.add(Layout.bucket(key, 1));
        }
      }
    });
    return recorded.all();
  }

  private TaskRecord decode(Database db, TaskId id, byte[] stored) {
    return TaskRecordFormat.decode(id, stored, queues::name,
        (task, ofSuccessor) -> db.get(Family.BODIES, Layout.body(new Bytes(17), task, ofSuccessor).toArray()));
  }

  private @Nullable TaskRecord decodeOrReport(Database db, Family family, TaskId id, byte[] stored) {
    try {
      return decode(db, id, stored);
    } catch (StoreException e) {
      damage(family.text, id.toString(), e);
      return null;
    }
  }

  /** Checks that each record can be read, is live, and has its index entry and its key. */
  private void records(Database db, List<byte[]> keys, List<byte[]> values) {
    Map<Family, Expected> expected = new EnumMap<>(Family.class);
    for (int i = 0; i < keys.size(); i++) {
      TaskId id = Layout.id(keys.get(i), 0);
      TaskRecord record = decodeOrReport(db, Family.RECORDS, id, values.get(i));
      if (record == null) {
        continue;
      }
      int queue = TaskRecordFormat.queueOf(values.get(i));
      counted.add(record, queue, 1);
      if (!record.isLive()) {
        damage("records", id.toString(), "the task is final, but not in the history: state=" + record.state());
        continue;
      }
      Family indexFamily = record.parked() ? Family.PARKED : Family.INDEX;
      indexed += record.parked() ? 0 : 1;
      parked += record.parked() ? 1 : 0;
      expected.computeIfAbsent(indexFamily, none -> new Expected()).add(indexKey(record, queue), record);
      String key = record.key();
      if (key != null) {
        expected.computeIfAbsent(Family.KEYS, none -> new Expected())
            .add(Layout.key(new Bytes(64), queue, key).toArray(), record);
      }
    }
    expected.forEach((family, required) -> {
      List<byte @Nullable []> found = db.getAll(family, required.keys());
      for (int i = 0; i < found.size(); i++) {
        compare(family, required.records().get(i), found.get(i));
      }
    });
  }

  /** Keys that must exist, with the records that need them. */
  private record Expected(List<byte[]> keys, List<TaskRecord> records) {
    Expected() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    void add(byte[] key, TaskRecord record) {
      keys.add(key);
      records.add(record);
    }
  }

  private byte[] indexKey(TaskRecord record, int queue) {
    return record.parked()
        ? Layout.parked(new Bytes(Layout.PARKED_KEY), queue, record.wakeAt(), record.id()).toArray()
        : Layout.index(new Bytes(Layout.INDEX_KEY), record.id().slot(slotCount), record.wakeAt(), record.id())
            .toArray();
  }

  private void compare(Family family, TaskRecord record, byte @Nullable [] found) {
    if (found == null) {
      damage(family.text, record.id().toString(), family == Family.KEYS
          ? "the key of the task is missing: key=" + record.key()
          : "the task has no entry, so it would never be fired: wakeAt=" + record.wakeAt());
    } else if (family == Family.KEYS && !KeyLocation.decode(found).equals(KeyLocation.of(record))) {
      damage(family.text, record.id().toString(), "the key of the task leads elsewhere: key=" + record.key()
          + ", leadsTo=" + KeyLocation.decode(found));
    } else if (family == Family.INDEX && !queues.name(BytesReader.u32(found, 0)).equals(record.queue())) {
      damage(family.text, record.id().toString(), "the entry names another queue: queue="
          + queues.name(BytesReader.u32(found, 0)) + ", expected=" + record.queue());
    }
  }

  private void history(Database db, byte[] key, byte[] value) {
    TaskId id = Layout.id(key, Layout.HISTORY_ID_AT);
    TaskRecord record = decode(db, id, value);
    counted.add(record, TaskRecordFormat.queueOf(value), 1);
    if (record.isLive() || !Bucket.of(record).equals(Layout.bucket(key, 0))) {
      damage("history", id.toString(), "the record is in the wrong bucket: bucket=" + Layout.bucket(key, 0) + ", state="
          + record.state());
    }
  }

  /**
   * Checks that each entry belongs to a record. If there are as many entries as records, this method does not look up
   * the entries: an entry without a record then implies a record without an entry, and {@link #records} has already
   * reported that record.
   */
  private void index(Database db, Family family, long expected) {
    chunks(db, family, (keys, values) -> {});
    if (read.getOrDefault(family.text, 0L) != expected) {
      each(db, family, (key, value) -> entry(db, family, key));
    }
  }

  private void entry(Database db, Family family, byte[] key) {
    TaskId id = Layout.id(key, family == Family.INDEX ? Layout.INDEX_ID_AT : Layout.PARKED_ID_AT);
    byte[] stored = db.get(Family.RECORDS, Layout.recordKey(id));
    if (stored == null) {
      damage(family.text, id.toString(), "the entry has no task");
      return;
    }
    TaskRecord record;
    try {
      record = decode(db, id, stored);
    } catch (UnreadableException e) {
      // The check of the records has reported this.
      return;
    }
    if (!Arrays.equals(indexKey(record, TaskRecordFormat.queueOf(stored)), key)) {
      damage(family.text, id.toString(), "the task has a different entry: wakeAt=" + record.wakeAt());
    }
  }

  private void keys(Database db, List<byte[]> keys, List<byte[]> values) {
    for (int i = 0; i < keys.size(); i++) {
      KeyLocation location = KeyLocation.decode(values.get(i));
      Bucket bucket = location.bucket();
      byte[] stored = bucket == null
          ? db.get(Family.RECORDS, Layout.recordKey(location.id()))
          : db.get(Family.HISTORY, Layout.historyKey(bucket, location.id()));
      if (stored == null) {
        damage("keys", location.id().toString(), "a key leads to a task that does not exist: bucket=" + bucket);
        continue;
      }
      try {
        String key = TaskRecordFormat.keyOf(location.id(), stored);
        byte[] expected = key == null
            ? new byte[0]
            : Layout.key(new Bytes(64), TaskRecordFormat.queueOf(stored), key).toArray();
        if (!Arrays.equals(expected, keys.get(i))) {
          damage("keys", location.id().toString(), "a key leads to a task of another key: key=" + key);
        }
      } catch (UnreadableException e) {
        // The check of the records has reported this.
      }
    }
  }

  /** Checks that a body has a record. The body's checksum, which is in the record, was checked with the record. */
  private void body(Database db, byte[] key) {
    TaskId id = Layout.id(key, 0);
    if (db.get(Family.RECORDS, Layout.recordKey(id)) != null) {
      return;
    }
    for (Bucket bucket : buckets) {
      if (db.get(Family.HISTORY, Layout.historyKey(bucket, id)) != null) {
        return;
      }
    }
    damage("bodies", id.toString(), "the body belongs to no task");
  }

  private void counts(Map<String, List<Long>> recorded) {
    Map<String, List<Long>> found = counted.all();
    Set<String> all = new TreeSet<>(recorded.keySet());
    all.addAll(found.keySet());
    for (String each : all) {
      List<Long> expected = recorded.getOrDefault(each, List.of());
      if (!found.getOrDefault(each, List.of()).equals(expected)) {
        damage("meta", each, "the counts of a queue do not agree with its tasks: recorded=" + expected + ", found="
            + found.getOrDefault(each, List.of()));
      }
    }
  }
}
