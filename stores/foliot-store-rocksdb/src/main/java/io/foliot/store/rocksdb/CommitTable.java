package io.foliot.store.rocksdb;

import io.foliot.api.Body;
import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.RecordChange;
import io.foliot.core.store.batch.RecordOverlay;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.RecordParts;
import io.foliot.core.store.format.TaskRecordFormat;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksIterator;

/**
 * The writes of one commit: the changes of its calls, their consequences, and the housekeeping that is due. Only the
 * net effect is written: a task that is touched five times is written once. Used by the writer thread only.
 */
final class CommitTable {
  /**
   * Maximum number of records of an expired bucket that one commit examines for keys and bodies to delete. This
   * examination takes a few ms.
   */
  private static final int RETIRED_PER_COMMIT = 2_000;
  /** Minimum time from the expiry to the drop of a bucket. The clock may be set back by this time without a loss. */
  private static final long DROP_GRACE_MILLIS = 10_000;
  /**
   * Distance from the largest generation given out to a newly recorded {@linkplain #recordFloor floor}: a minute, in
   * microseconds.
   */
  private static final long FLOOR_AHEAD = 60_000_000;

  private static final Comparator<RecordChange> BY_ID = (a, b) -> a.id().compareTo(b.id());

  private final Database db;
  private final int slotCount;
  private final Queues queues;
  private final TaskCounts tally;
  private final RecordCache cache;
  private final Unreadables unreadables;
  private final LowWatermarks indexWatermarks;
  private final LowWatermarks parkedWatermarks;
  private final StoredRecords stored;
  private final RecordOverlay overlay;
  private final Batch batch;
  private final Comparator<TaskRecord> byIndexKey;
  private final Bytes key = new Bytes(512);
  private final Bytes value = new Bytes(4096);
  /** The new locations of the keys that this commit changes. */
  private final Map<KeyName, KeyLocation> locations = new LinkedHashMap<>();
  private final List<Runnable> afterCommit = new ArrayList<>();

  private long nowMillis;
  private long generationGiven;
  private long recordedFloor;
  /** The expired bucket that is being examined before its drop, or null. */
  private @Nullable Bucket retiring;
  /** The key of the first record of {@link #retiring} that is not yet examined; null if no record has been examined. */
  private byte @Nullable [] retiredUpTo;

  CommitTable(Database db, int slotCount, Queues queues, TaskCounts tally, RecordCache cache, Unreadables unreadables,
      Room room, LowWatermarks indexWatermarks, LowWatermarks parkedWatermarks, long recordedFloor) {
    this.db = db;
    this.slotCount = slotCount;
    this.queues = queues;
    this.tally = tally;
    this.cache = cache;
    this.unreadables = unreadables;
    this.indexWatermarks = indexWatermarks;
    this.parkedWatermarks = parkedWatermarks;
    this.recordedFloor = recordedFloor;
    stored = new StoredRecords(db, queues, tally, cache, unreadables, room);
    overlay = new RecordOverlay(stored, Long.MIN_VALUE);
    byIndexKey = Comparator.<TaskRecord>comparingInt(record -> record.id().slot(slotCount))
        .thenComparingLong(TaskRecord::wakeAt).thenComparing(TaskRecord::id);
    batch = new Batch(db.familyIds(), 1 << 20);
  }

  /** Returns the records as the calls of this commit see them. */
  RecordTable records() {
    return overlay;
  }

  /** Returns the records as they were before this commit. */
  StoredRecords stored() {
    return stored;
  }

  /** Sets the time at which the next call runs, in ms since 1970. */
  void now(long millis) {
    nowMillis = millis;
    overlay.advanceTo(millis);
  }

  /** Returns the batch of this commit, for writes other than tasks. */
  Batch batch() {
    return batch;
  }

  /** Returns whether a queue has a live task, after the changes of this commit. */
  boolean hasLive(String queue) {
    long live = tally.live(queue);
    for (RecordChange change : overlay.changes()) {
      live += liveOf(change.after(), queue) - liveOf(before(change), queue);
    }
    return live > 0;
  }

  /**
   * Returns the record before the commit, or null if there was none. If the id should be new, the call has not read a
   * record and {@code change.before()} is null, but {@link StoredRecords#prefetch} may have read one.
   */
  private @Nullable TaskRecord before(RecordChange change) {
    TaskRecord before = change.before();
    return before != null ? before : stored.ifRead(change.id());
  }

  private static int liveOf(@Nullable TaskRecord record, String queue) {
    return record != null && record.isLive() && record.queue().equals(queue) ? 1 : 0;
  }

  /** Returns whether this commit has steps that must not run before the commit is durable. */
  boolean hasFollowers() {
    return !afterCommit.isEmpty();
  }

  /**
   * Puts the net effect of the calls, and the housekeeping that is due, into the batch. RocksDB inserts fastest right
   * after the position of its last insert, so records, bodies and index entries are written in the order of their keys.
   * This saves a fifth of the processor time of a batch of submits.
   */
  void finish(long generationFloor) {
    List<RecordChange> changes = overlay.changes();
    changes.sort(BY_ID);
    changes.forEach(this::emit);
    emitIndex(changes);
    changes.forEach(this::moveKey);
    retire();
    emitLocations();
    emitAnswers();
    tally.write(batch);
    generationGiven = Math.max(generationGiven, overlay.largestShown());
    long given = Math.max(generationFloor, generationGiven);
    if (!batch.isEmpty()) {
      recordFloor(given > recordedFloor - FLOOR_AHEAD / 2 ? given + FLOOR_AHEAD : recordedFloor);
    }
  }

  /**
   * Records the floor: all generations given out so far are smaller than the floor. The floor is the last entry of each
   * commit, and is never deleted. (A deleted entry may vanish together with its delete.) A flush therefore always
   * writes the floor, with its sequence number, to a table file. So the MANIFEST or the log shows the sequence number
   * of the last commit; {@link Guard} relies on this.
   */
  void recordFloor(long floor) {
    recordedFloor = floor;
    Bytes name = key.clear().bytes(Layout.META_FLOOR);
    batch.put(Family.META, name, value.clear().u64(floor));
  }

  /** Returns the largest generation that was given out by operations of this table. */
  long generationGiven() {
    return generationGiven;
  }

  /** Returns whether a record is stored at all; a final record of a queue without retention is not. */
  private static boolean isStored(TaskRecord record) {
    return record.isLive() || record.dropAt() > record.changedAt();
  }

  private int queueNumber(String queue) {
    int number = queues.number(queue);
    if (number >= 0) {
      return number;
    }
    number = queues.add(queue);
    parkedWatermarks.growTo(queues.count());
    batch.put(Family.META, key.clear().u8(Layout.META_QUEUE).u32(number), value.clear().text(queue));
    return number;
  }

  /** Writes a record and its bodies, without its index entry and its key. */
  private void emit(RecordChange change) {
    TaskRecord before = before(change);
    TaskRecord after = change.after();
    int queue = queueNumber(after.queue());
    boolean isKept = isStored(after);
    if (before != null) {
      tally.add(before, queue, -1);
      deleteOld(before, after);
    }
    if (isKept) {
      tally.add(after, queue, 1);
      TaskRecordFormat.encode(after, queue, value.clear());
      if (after.isLive()) {
        batch.put(Family.RECORDS, Layout.id(key.clear(), after.id()), value);
      } else {
        batch.put(Family.HISTORY, Layout.history(key.clear(), Bucket.of(after), after.id()), value);
      }
    }
    emitBody(after.id(), false, before == null ? null : before.body(), isKept ? after.body() : null);
    emitBody(after.id(), true, before == null ? null : before.successorBody(), after.successorBody());
  }

  /** Deletes a record from its old family and key, unless the new record overwrites it there. */
  private void deleteOld(TaskRecord before, TaskRecord after) {
    if (before.isLive() && !after.isLive()) {
      batch.delete(Family.RECORDS, Layout.id(key.clear(), before.id()));
    } else if (!before.isLive() && (after.isLive() || !Bucket.of(before).equals(Bucket.of(after)))) {
      batch.delete(Family.HISTORY, Layout.history(key.clear(), Bucket.of(before), before.id()));
    }
  }

  /** Writes the index: first the deletes, then the inserts. */
  private void emitIndex(List<RecordChange> changes) {
    List<TaskRecord> leaving = new ArrayList<>();
    List<TaskRecord> entering = new ArrayList<>();
    for (RecordChange change : changes) {
      TaskRecord before = before(change);
      TaskRecord after = change.after();
      TaskRecord indexed = before != null && before.isLive() ? before : null;
      boolean stays = indexed != null && after.isLive() && indexed.parked() == after.parked()
          && indexed.wakeAt() == after.wakeAt();
      if (indexed != null && !stays) {
        leaving.add(indexed);
      }
      if (after.isLive() && !stays) {
        entering.add(after);
      }
    }
    leaving.sort(byIndexKey);
    for (TaskRecord record : leaving) {
      indexKey(record, queueNumber(record.queue()));
      batch.singleDelete(record.parked() ? Family.PARKED : Family.INDEX, key);
    }
    entering.sort(byIndexKey);
    for (TaskRecord record : entering) {
      int queue = queueNumber(record.queue());
      indexKey(record, queue);
      if (record.parked()) {
        parkedWatermarks.lower(queue, record.wakeAt());
        batch.put(Family.PARKED, key, value.clear());
      } else {
        indexWatermarks.lower(record.id().slot(slotCount), record.wakeAt());
        batch.put(Family.INDEX, key, value.clear().u32(queue));
      }
    }
  }

  private void indexKey(TaskRecord record, int queue) {
    if (record.parked()) {
      Layout.parked(key.clear(), queue, record.wakeAt(), record.id());
    } else {
      Layout.index(key.clear(), record.id().slot(slotCount), record.wakeAt(), record.id());
    }
  }

  private void emitBody(TaskId id, boolean ofSuccessor, @Nullable Body before, @Nullable Body after) {
    if (before == after) {
      return;
    }
    if (after != null && TaskRecordFormat.isOutside(after)) {
      RecordParts.writeBody(after, value.clear());
      batch.put(Family.BODIES, Layout.body(key.clear(), id, ofSuccessor), value);
    } else if (TaskRecordFormat.isOutside(before)) {
      batch.delete(Family.BODIES, Layout.body(key.clear(), id, ofSuccessor));
    }
  }

  /** Determines the new location of a key, if a task with this key was created or has ended. */
  private void moveKey(RecordChange change) {
    String taskKey = change.after().key();
    if (taskKey != null && !(change.wasLive() && change.after().isLive())) {
      KeyName name = new KeyName(change.after().queue(), taskKey);
      TaskId holder = overlay.holder(name);
      TaskRecord record = holder == null ? null : overlay.stored(holder);
      locations.put(name, record == null || !isStored(record) ? KeyLocation.NOWHERE : KeyLocation.of(record));
    }
  }

  private void emitLocations() {
    locations.forEach((name, location) -> {
      Layout.key(key.clear(), queueNumberOf(name), name.key());
      if (location == KeyLocation.NOWHERE) {
        batch.delete(Family.KEYS, key);
      } else {
        batch.put(Family.KEYS, key, location.encode(value.clear()));
      }
    });
  }

  private int queueNumberOf(KeyName name) {
    int number = queues.number(name.queue());
    assert number >= 0 : "the task of the key was written before, so its queue has a number";
    return number;
  }

  private void emitAnswers() {
    overlay.answers().forEach((name, answered) -> {
      int queue = queueNumber(name.queue());
      long bucket = Layout.answerBucket(answered.dropAt());
      stored.answerBuckets().add(bucket);
      RecordParts.frameAnswer(answered, value.clear());
      batch.put(Family.ANSWERS, Layout.answer(key.clear(), bucket, queue, name.key(), name.request()), value);
    });
  }

  /** Drops expired answers and records: at most one bucket of each per commit. */
  private void retire() {
    long dropMillis = nowMillis - DROP_GRACE_MILLIS;
    NavigableSet<Long> answerBuckets = stored.answerBuckets();
    if (!answerBuckets.isEmpty() && Layout.answersExpired(answerBuckets.first(), dropMillis)) {
      long bucket = answerBuckets.first();
      answerBuckets.remove(bucket);
      drop(Family.ANSWERS, new Bytes(4).u32((int) bucket).array());
    }
    if (retiring == null) {
      for (Bucket bucket : tally.buckets()) {
        if (bucket.isExpired(dropMillis)) {
          retiring = bucket;
          break;
        }
      }
    }
    Bucket bucket = retiring;
    if (bucket != null && (tally.leavesNoTraces(bucket) || removeTraces(bucket))) {
      tally.drop(bucket, batch);
      drop(Family.HISTORY, Layout.bucket(new Bytes(5), bucket).array());
      retiring = null;
      retiredUpTo = null;
    }
  }

  /** Returns whether an expired bucket has been examined only in part. The next commit then continues. */
  boolean isRetiring() {
    return retiring != null;
  }

  private void drop(Family family, byte[] prefix) {
    byte[] behind = Layout.behind(prefix);
    batch.deleteRange(family, prefix, behind);
    afterCommit.add(() -> db.dropFiles(family, prefix, behind));
  }

  /** Deletes the keys and bodies of an expired bucket's tasks, a part per commit. Returns whether none are left. */
  private boolean removeTraces(Bucket bucket) {
    byte[] prefix = Layout.bucket(new Bytes(5), bucket).array();
    byte[] from = retiredUpTo;
    try (Database.Range range = db.range(prefix); RocksIterator iterator = db.iterator(Family.HISTORY, range)) {
      iterator.seek(from == null ? prefix : from);
      for (int i = 0; i < RETIRED_PER_COMMIT && iterator.isValid(); i++) {
        TaskId id = Layout.id(iterator.key(), Layout.HISTORY_ID_AT);
        if (!overlay.hasWritten(id)) {
          removeTraces(bucket, id, iterator.value());
        }
        iterator.next();
      }
      Database.check(iterator);
      retiredUpTo = iterator.isValid() ? iterator.key() : null;
      return !iterator.isValid();
    }
  }

  private void removeTraces(Bucket bucket, TaskId id, byte[] record) {
    String taskKey;
    try {
      taskKey = TaskRecordFormat.keyOf(id, record);
    } catch (MalformedException | NewerVersionException e) {
      // The record is dropped with its bucket. The entry of the task's key stays, because an unreadable record does not
      // show the key. The key is free nevertheless, because the entry then leads to no task.
      unreadables.add(id, e);
      if (db.get(Family.RECORDS, Layout.recordKey(id)) == null) {
        // An unreadable record is treated as absent, so a live task may have the same id. The payload then belongs to
        // the live task.
        batch.delete(Family.BODIES, Layout.body(key.clear(), id, false));
      }
      return;
    }
    if (taskKey != null) {
      KeyName name = new KeyName(queues.name(TaskRecordFormat.queueOf(record)), taskKey);
      KeyLocation changed = locations.get(name);
      KeyLocation location = changed != null ? changed : stored.location(name);
      if (bucket.equals(location.bucket()) && location.id().equals(id)) {
        locations.put(name, KeyLocation.NOWHERE);
      }
    }
    if (TaskRecordFormat.hasBodyOutside(record)) {
      batch.delete(Family.BODIES, Layout.body(key.clear(), id, false));
    }
  }

  /** Publishes the results of the commit, which is now in the database, and begins the next commit. */
  void committed() {
    for (RecordChange change : overlay.changes()) {
      cache.put(change.after(), change.before() == null);
    }
    tally.publish();
    afterCommit.forEach(Runnable::run);
    afterCommit.clear();
    overlay.clear();
    stored.clear();
    locations.clear();
    batch.clear();
  }
}
