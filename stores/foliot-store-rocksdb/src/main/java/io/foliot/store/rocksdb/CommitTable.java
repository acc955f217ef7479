package io.foliot.store.rocksdb;

import io.foliot.core.Body;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Generations;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.RecordParts;
import io.foliot.core.store.format.TaskRecordFormat;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksIterator;

/**
 * The records as one commit sees them: what the database holds, and over it what the operations of the commit have
 * written so far. Only the net effect of a commit is written: a task that is touched five times in it is one put. The
 * writer's alone.
 *
 * <p>One file, because what a commit reads, overlays and writes are three views of the same entries.
 */
final class CommitTable implements RecordTable {
  /** Records of an expired bucket looked at in one commit for the keys and bodies they leave: some milliseconds. */
  private static final int RETIRED_PER_COMMIT = 2_000;
  /** A bucket is dropped only that long after its end: a clock that is stepped back a little finds it still there. */
  private static final long DROP_GRACE_MILLIS = 10_000;
  /** How far ahead of what was given out the floor of generations is recorded, in microseconds: a minute. */
  private static final long FLOOR_AHEAD = 60_000_000;

  private static final class Entry {
    /** What the database holds. */
    final @Nullable TaskRecord committed;
    /** What the commit leaves. */
    @Nullable
    TaskRecord current;
    boolean dirty;
    boolean isUnreadable;

    final TaskId id;

    Entry(TaskId id, @Nullable TaskRecord committed) {
      this.id = id;
      this.committed = committed;
      current = committed;
    }
  }

  private static final Comparator<Entry> BY_ID = Comparator.comparing(entry -> entry.id);

  /** A key that has no task. */
  private static final Place NOWHERE = new Place(new TaskId(0, 0), null);

  private record AnswerName(String queue, @Nullable String key, String idempotencyKey) {}

  private final Database db;
  private final int slotCount;
  private final Queues queues;
  private final Tally tally;
  private final RecordCache cache;
  private final Unreadables unreadables;
  private final Hands indexHands;
  private final Hands parkedHands;
  private final Batch batch;
  private final Comparator<TaskRecord> byIndexKey;
  private final Bytes key = new Bytes(512);
  private final Bytes value = new Bytes(4096);

  private final Map<TaskId, Entry> entries = new HashMap<>();
  private final List<Entry> dirty = new ArrayList<>();
  private final Map<KeyName, Place> places = new HashMap<>();
  private final Set<KeyName> dirtyPlaces = new LinkedHashSet<>();
  private final Map<AnswerName, Answered> answers = new LinkedHashMap<>();
  private final NavigableSet<Long> answerBuckets = new TreeSet<>();
  private final Set<TaskId> wantedIds = new LinkedHashSet<>();
  private final List<TaskId> newIds = new ArrayList<>();
  private final Set<KeyName> wantedKeys = new LinkedHashSet<>();
  private final List<Runnable> afterCommit = new ArrayList<>();

  private long nowMillis;
  private long generationGiven;
  private long recordedFloor;
  private @Nullable Bucket retiring;
  private byte @Nullable [] retiredUpTo;

  CommitTable(Database db, int slotCount, Queues queues, Tally tally, RecordCache cache, Unreadables unreadables,
      Hands indexHands, Hands parkedHands, long recordedFloor) {
    this.db = db;
    this.slotCount = slotCount;
    this.queues = queues;
    this.tally = tally;
    this.cache = cache;
    this.unreadables = unreadables;
    this.indexHands = indexHands;
    this.parkedHands = parkedHands;
    this.recordedFloor = recordedFloor;
    byIndexKey = Comparator.<TaskRecord>comparingInt(record -> record.id().slot(slotCount))
        .thenComparingLong(TaskRecord::wakeAt).thenComparing(TaskRecord::id);
    batch = new Batch(db.familyIds(), 1 << 20);
    findAnswerBuckets();
  }

  private void findAnswerBuckets() {
    try (RocksIterator iterator = db.iterator(Family.ANSWERS)) {
      iterator.seekToFirst();
      while (iterator.isValid()) {
        long bucket = BytesReader.u32(iterator.key(), 0) & 0xFFFF_FFFFL;
        answerBuckets.add(bucket);
        iterator.seek(new Bytes(4).u32((int) bucket + 1).array());
      }
      Database.check(iterator);
    }
  }

  /** The clock by which the next operation runs. */
  void now(long millis) {
    nowMillis = millis;
  }

  /** Says that an operation of this commit will ask for a task. */
  void want(TaskId id) {
    if (!entries.containsKey(id) && cache.get(id) == null) {
      wantedIds.add(id);
    }
  }

  /**
   * Says that an operation of this commit may insert a task. Its id should be new, and hardly ever is not; but if it
   * were not, an entry of the index would be left behind for ever. So it is looked up: the filters make that cheap.
   */
  void wantNew(TaskId id) {
    if (!entries.containsKey(id)) {
      newIds.add(id);
    }
  }

  /** Says that an operation of this commit will ask for a key. */
  void want(String queue, String taskKey) {
    KeyName name = new KeyName(queue, taskKey);
    if (!places.containsKey(name) && cache.get(name) == null) {
      wantedKeys.add(name);
    }
  }

  /** Says that an operation of this commit will ask for a task. */
  void want(TaskRef ref) {
    switch (ref) {
      case TaskRef.ById byId -> want(byId.id());
      case TaskRef.ByKey byKey -> want(byKey.queue(), byKey.key());
    }
  }

  /** Reads all that is wanted, many at a time. */
  void prefetch() {
    prefetchKeys();
    prefetchIds(List.copyOf(wantedIds));
    wantedIds.clear();
    prefetchIds(newIds);
    newIds.clear();
  }

  private void prefetchIds(List<TaskId> ids) {
    List<byte[]> keys = new ArrayList<>(ids.size());
    for (TaskId id : ids) {
      keys.add(Layout.recordKey(id));
    }
    List<byte @Nullable []> values = db.getAll(Family.RECORDS, keys);
    for (int i = 0; i < values.size(); i++) {
      byte[] stored = values.get(i);
      if (stored != null) {
        TaskId id = ids.get(i);
        TaskRecord cached = cache.get(id);
        entries.put(id, cached != null ? new Entry(id, cached) : entry(id, stored));
      }
    }
  }

  private void prefetchKeys() {
    if (wantedKeys.isEmpty()) {
      return;
    }
    List<KeyName> names = new ArrayList<>(wantedKeys.size());
    List<byte[]> keys = new ArrayList<>(wantedKeys.size());
    for (KeyName name : wantedKeys) {
      int queue = queues.number(name.queue());
      if (queue < 0) {
        places.put(name, NOWHERE);
      } else {
        names.add(name);
        keys.add(Layout.key(key.clear(), queue, name.key()).toArray());
      }
    }
    wantedKeys.clear();
    List<byte @Nullable []> values = db.getAll(Family.KEYS, keys);
    for (int i = 0; i < names.size(); i++) {
      byte[] stored = values.get(i);
      Place place = stored == null ? NOWHERE : Place.decode(stored);
      places.put(names.get(i), place);
      if (stored != null && place.bucket() == null) {
        want(place.id());
      }
    }
  }

  @Override
  public @Nullable TaskRecord get(TaskId id) {
    return visible(entry(id).current);
  }

  private @Nullable TaskRecord visible(@Nullable TaskRecord record) {
    return record == null || record.isLive() || record.dropAt() > nowMillis ? record : null;
  }

  private Entry entry(TaskId id) {
    Entry entry = entries.get(id);
    if (entry == null) {
      TaskRecord cached = cache.get(id);
      entry = cached != null ? new Entry(id, cached) : entry(id, load(id));
      entries.put(id, entry);
    }
    return entry;
  }

  /** What an id is to this commit: a record that cannot be read is as one that is not there. */
  private Entry entry(TaskId id, byte @Nullable [] stored) {
    try {
      return new Entry(id, stored == null ? null : decode(id, stored));
    } catch (MalformedException | NewerVersionException e) {
      unreadables.add(id, e);
      Entry entry = new Entry(id, null);
      entry.isUnreadable = true;
      return entry;
    }
  }

  /** Whether a task is there and cannot be read. */
  boolean isUnreadable(TaskId id) {
    return entry(id).isUnreadable;
  }

  /** Whether the latest task of a key is live and cannot be read. */
  boolean isUnreadable(String queue, String taskKey) {
    KeyName name = new KeyName(queue, taskKey);
    if (cache.get(name) != null) {
      return false;
    }
    Place place = places.computeIfAbsent(name, this::place);
    return place != NOWHERE && place.bucket() == null && isUnreadable(place.id());
  }

  /** Whether a task is there and cannot be read. */
  boolean isUnreadable(TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById byId -> isUnreadable(byId.id());
      case TaskRef.ByKey byKey -> isUnreadable(byKey.queue(), byKey.key());
    };
  }

  private byte @Nullable [] load(TaskId id) {
    byte[] live = db.get(Family.RECORDS, Layout.recordKey(id));
    if (live != null) {
      return live;
    }
    Bucket[] buckets = tally.buckets();
    List<byte[]> keys = new ArrayList<>(buckets.length);
    for (Bucket bucket : buckets) {
      keys.add(Layout.historyKey(bucket, id));
    }
    for (byte[] kept : db.getAll(Family.HISTORY, keys)) {
      if (kept != null) {
        return kept;
      }
    }
    return null;
  }

  private TaskRecord decode(TaskId id, byte[] stored) {
    return TaskRecordFormat.decode(id, stored, queues::name,
        (task, ofSuccessor) -> db.get(Family.BODIES, Layout.body(new Bytes(17), task, ofSuccessor).toArray()));
  }

  @Override
  public @Nullable TaskRecord byKey(String queue, String taskKey) {
    KeyName name = new KeyName(queue, taskKey);
    Place place = places.get(name);
    if (place == null) {
      TaskRecord cached = cache.get(name);
      if (cached != null) {
        return get(cached.id());
      }
      place = place(name);
      places.put(name, place);
    }
    if (place == NOWHERE) {
      return null;
    }
    Bucket bucket = place.bucket();
    if (bucket != null && !entries.containsKey(place.id())) {
      TaskId id = place.id();
      byte[] kept = db.get(Family.HISTORY, Layout.historyKey(bucket, id));
      entries.put(id, entry(id, kept));
    }
    return get(place.id());
  }

  private Place place(KeyName name) {
    int queue = queues.number(name.queue());
    byte[] stored = queue < 0
        ? null
        : db.get(Family.KEYS, Layout.key(key.clear(), queue, name.key()).toArray());
    return stored == null ? NOWHERE : Place.decode(stored);
  }

  @Override
  public void write(@Nullable TaskRecord before, TaskRecord after) {
    Entry entry = entries.get(after.id());
    if (entry == null) {
      entry = new Entry(after.id(), before);
      entries.put(after.id(), entry);
    }
    entry.current = after;
    if (!entry.dirty) {
      entry.dirty = true;
      dirty.add(entry);
    }
    generationGiven = Math.max(generationGiven, Generations.shown(after));
    String taskKey = after.key();
    if (taskKey != null && (before == null || !after.isLive() || !before.isLive())) {
      KeyName name = new KeyName(after.queue(), taskKey);
      places.put(name, isStored(after) ? Place.of(after) : NOWHERE);
      dirtyPlaces.add(name);
    }
  }

  /** Whether a record is kept at all; a final one of a queue without retention is not. */
  private static boolean isStored(TaskRecord record) {
    return record.isLive() || record.dropAt() > record.changedAt();
  }

  @Override
  public RecordTable.@Nullable Answered answered(String queue, @Nullable String taskKey, String idempotencyKey) {
    AnswerName name = new AnswerName(queue, taskKey, idempotencyKey);
    Answered known = answers.get(name);
    int number = queues.number(queue);
    if (known != null || number < 0 || answerBuckets.isEmpty()) {
      return known;
    }
    List<byte[]> keys = new ArrayList<>(answerBuckets.size());
    for (long bucket : answerBuckets.descendingSet()) {
      keys.add(Layout.answer(key.clear(), bucket, number, taskKey, idempotencyKey).toArray());
    }
    for (byte[] stored : db.getAll(Family.ANSWERS, keys)) {
      if (stored != null) {
        return RecordParts.unframeAnswer(stored);
      }
    }
    return null;
  }

  @Override
  public void remember(String queue, @Nullable String taskKey, String idempotencyKey, Answered answered) {
    answers.put(new AnswerName(queue, taskKey, idempotencyKey), answered);
  }

  /** The batch of this commit, for what is written beside tasks. */
  Batch batch() {
    return batch;
  }

  /** Whether a queue has a live task, with the writes of this batch. */
  boolean hasLive(String queue) {
    long live = tally.live(queue);
    for (Entry entry : dirty) {
      live += liveOf(entry.current, queue) - liveOf(entry.committed, queue);
    }
    return live > 0;
  }

  private static int liveOf(@Nullable TaskRecord record, String queue) {
    return record != null && record.isLive() && record.queue().equals(queue) ? 1 : 0;
  }

  /** Runs behind the commit. */
  void afterCommit(Runnable step) {
    afterCommit.add(step);
  }

  /** Whether the commit is followed by steps that must not come before it is durable. */
  boolean hasFollowers() {
    return !afterCommit.isEmpty();
  }

  /** Puts the net effect of the operations into the batch, and what is due of housekeeping. */
  void finish(long generationFloor) {
    emitRecords();
    emitIndex();
    retire();
    emitPlaces();
    emitAnswers();
    tally.write(batch);
    long given = Math.max(generationFloor, generationGiven);
    if (!batch.isEmpty()) {
      recordFloor(given > recordedFloor - FLOOR_AHEAD / 2 ? given + FLOOR_AHEAD : recordedFloor);
    }
  }

  /**
   * Records that all generations given out so far are smaller than this. It is the last entry of each commit, because
   * one that is only ever overwritten reaches a table file with its sequence number; an entry and its delete may vanish
   * together. So the MANIFEST or the log tells how far the commits go, which {@link Guard} relies on.
   */
  void recordFloor(long floor) {
    recordedFloor = floor;
    Bytes name = key.clear().bytes(Layout.META_FLOOR);
    batch.put(Family.META, name, value.clear().u64(floor));
  }

  /** The largest generation that was given out by operations of this table. */
  long generationGiven() {
    return generationGiven;
  }

  private int queueNumber(String queue) {
    int number = queues.number(queue);
    if (number >= 0) {
      return number;
    }
    number = queues.add(queue);
    parkedHands.growTo(queues.count());
    batch.put(Family.META, key.clear().u8(Layout.META_QUEUE).u32(number), value.clear().text(queue));
    return number;
  }

  /**
   * Puts what changed into the batch. RocksDB inserts fastest right behind what it inserted last (a fifth of all
   * processor time of a batch of submits), so each family gets its entries in the order of their keys.
   */
  private void emitRecords() {
    dirty.sort(BY_ID);
    for (Entry entry : dirty) {
      emit(entry);
    }
  }

  private void emit(Entry entry) {
    TaskRecord before = entry.committed;
    TaskRecord after = entry.current;
    assert after != null;
    if (after == before) {
      return;
    }
    int queue = queueNumber(after.queue());
    boolean keeps = isStored(after);
    if (before != null) {
      tally.add(before, queue, -1);
      leave(before, after);
    }
    if (keeps) {
      tally.add(after, queue, 1);
      TaskRecordFormat.encode(after, queue, value.clear());
      if (after.isLive()) {
        batch.put(Family.RECORDS, Layout.id(key.clear(), after.id()), value);
      } else {
        batch.put(Family.HISTORY, Layout.history(key.clear(), Bucket.of(after), after.id()), value);
      }
    }
    emitBody(after.id(), false, before == null ? null : before.body(), keeps ? after.body() : null);
    emitBody(after.id(), true, successorBody(before), successorBody(after));
  }

  /** Deletes a record from where it stood, unless it will be written over. */
  private void leave(TaskRecord before, TaskRecord after) {
    if (before.isLive() && !after.isLive()) {
      batch.delete(Family.RECORDS, Layout.id(key.clear(), before.id()));
    } else if (!before.isLive() && (after.isLive() || !Bucket.of(before).equals(Bucket.of(after)))) {
      batch.delete(Family.HISTORY, Layout.history(key.clear(), Bucket.of(before), before.id()));
    }
  }

  /** The same for the index: what leaves it, then what comes. */
  private void emitIndex() {
    List<TaskRecord> leaving = new ArrayList<>();
    List<TaskRecord> coming = new ArrayList<>();
    for (Entry entry : dirty) {
      TaskRecord before = entry.committed;
      TaskRecord after = entry.current;
      assert after != null;
      TaskRecord stood = before != null && before.isLive() ? before : null;
      boolean stays = stood != null && after.isLive() && stood.parked() == after.parked()
          && stood.wakeAt() == after.wakeAt();
      if (stood != null && !stays) {
        leaving.add(stood);
      }
      if (after.isLive() && !stays) {
        coming.add(after);
      }
    }
    leaving.sort(byIndexKey);
    for (TaskRecord record : leaving) {
      indexKey(record, queueNumber(record.queue()));
      batch.singleDelete(record.parked() ? Family.PARKED : Family.INDEX, key);
    }
    coming.sort(byIndexKey);
    for (TaskRecord record : coming) {
      int queue = queueNumber(record.queue());
      indexKey(record, queue);
      if (record.parked()) {
        parkedHands.lower(queue, record.wakeAt());
        batch.put(Family.PARKED, key, value.clear());
      } else {
        indexHands.lower(record.id().slot(slotCount), record.wakeAt());
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

  private static @Nullable Body successorBody(@Nullable TaskRecord record) {
    TaskRecord.Successor successor = record == null ? null : record.successor();
    return successor == null ? null : successor.body();
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

  private void emitPlaces() {
    for (KeyName name : dirtyPlaces) {
      Place place = places.get(name);
      assert place != null;
      Layout.key(key.clear(), queueNumberOf(name), name.key());
      if (place == NOWHERE) {
        batch.delete(Family.KEYS, key);
      } else {
        batch.put(Family.KEYS, key, place.encode(value.clear()));
      }
    }
  }

  private int queueNumberOf(KeyName name) {
    int number = queues.number(name.queue());
    assert number >= 0 : "a key is written with its task";
    return number;
  }

  private void emitAnswers() {
    answers.forEach((name, answered) -> {
      int queue = queueNumber(name.queue());
      long bucket = Layout.answerBucket(answered.dropAt());
      answerBuckets.add(bucket);
      RecordParts.frameAnswer(answered, value.clear());
      batch.put(Family.ANSWERS, Layout.answer(key.clear(), bucket, queue, name.key(), name.idempotencyKey()), value);
    });
  }

  /** Drops what has expired, a step at a time. */
  private void retire() {
    long dropMillis = nowMillis - DROP_GRACE_MILLIS;
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

  /** Whether housekeeping is in the middle of something. */
  boolean isRetiring() {
    return retiring != null;
  }

  private void drop(Family family, byte[] prefix) {
    byte[] behind = Layout.behind(prefix);
    batch.deleteRange(family, prefix, behind);
    afterCommit.add(() -> db.dropFiles(family, prefix, behind));
  }

  /** Deletes keys and bodies that tasks of an expired bucket leave; answers whether that was all. */
  private boolean removeTraces(Bucket bucket) {
    byte[] prefix = Layout.bucket(new Bytes(5), bucket).array();
    byte[] from = retiredUpTo;
    try (Database.Range range = db.range(prefix); RocksIterator iterator = db.iterator(Family.HISTORY, range)) {
      iterator.seek(from == null ? prefix : from);
      for (int i = 0; i < RETIRED_PER_COMMIT && iterator.isValid(); i++) {
        TaskId id = Layout.id(iterator.key(), Layout.HISTORY_ID_AT);
        Entry entry = entries.get(id);
        if (entry == null || !entry.dirty) {
          removeTraces(bucket, id, iterator.value());
        }
        iterator.next();
      }
      Database.check(iterator);
      retiredUpTo = iterator.isValid() ? iterator.key() : null;
      return !iterator.isValid();
    }
  }

  private void removeTraces(Bucket bucket, TaskId id, byte[] stored) {
    String taskKey;
    try {
      taskKey = TaskRecordFormat.keyOf(id, stored);
    } catch (MalformedException | NewerVersionException e) {
      // It expires as others do; a key or a body of it stays, which is what cannot be read of it.
      unreadables.add(id, e);
      return;
    }
    if (taskKey != null) {
      KeyName name = new KeyName(queues.name(TaskRecordFormat.queueOf(stored)), taskKey);
      Place known = places.get(name);
      Place place = known != null ? known : place(name);
      if (bucket.equals(place.bucket()) && place.id().equals(id)) {
        places.put(name, NOWHERE);
        dirtyPlaces.add(name);
      }
    }
    if (TaskRecordFormat.hasBodyOutside(stored)) {
      batch.delete(Family.BODIES, Layout.body(key.clear(), id, false));
    }
  }

  /** The commit is durable: what it left is what the database holds. */
  void committed() {
    for (Entry entry : dirty) {
      TaskRecord current = entry.current;
      assert current != null;
      cache.put(current);
    }
    tally.publish();
    afterCommit.forEach(Runnable::run);
    afterCommit.clear();
    entries.clear();
    dirty.clear();
    places.clear();
    dirtyPlaces.clear();
    answers.clear();
    batch.clear();
  }
}
