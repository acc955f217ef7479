package io.foliot.store.rocksdb;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.CommittedRecords;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.Reads;
import io.foliot.core.store.batch.RequestName;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.RecordParts;
import io.foliot.core.store.format.TaskRecordFormat;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksIterator;

/**
 * The records of the database, as one commit reads them. Used by the writer thread only.
 *
 * <ol>
 * <li>The calls of a commit first name the records that they will read. The named live records that are not in the
 * {@link RecordCache} are then read many at a time.
 * <li>Any other record is read when it is requested.
 * <li>Each record is read once per commit, so that all calls get the same object.
 * <li>A record that cannot be read is treated as absent, and is reported.
 * </ol>
 */
final class StoredRecords implements CommittedRecords, Reads {
  /** A record as it was read. */
  private record Entry(@Nullable TaskRecord record, boolean isUnreadable) {
    static final Entry ABSENT = new Entry(null, false);
    static final Entry UNREADABLE = new Entry(null, true);
  }

  private final Database db;
  private final Queues queues;
  private final TaskCounts tally;
  private final RecordCache cache;
  private final Unreadables unreadables;
  private final Room room;
  private final Bytes key = new Bytes(512);

  private final Map<TaskId, Entry> entries = new HashMap<>();
  private final Map<KeyName, KeyLocation> locations = new HashMap<>();
  private final NavigableSet<Long> answerBuckets = new TreeSet<>();
  private final Set<TaskId> wantedIds = new LinkedHashSet<>();
  private final List<TaskId> newIds = new ArrayList<>();
  private final Set<KeyName> wantedKeys = new LinkedHashSet<>();

  StoredRecords(Database db, Queues queues, TaskCounts tally, RecordCache cache, Unreadables unreadables,
      Room room) {
    this.db = db;
    this.queues = queues;
    this.tally = tally;
    this.cache = cache;
    this.unreadables = unreadables;
    this.room = room;
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

  /** Returns the numbers of the buckets that hold answers to requests. The caller adds and removes buckets. */
  NavigableSet<Long> answerBuckets() {
    return answerBuckets;
  }

  @Override
  public void id(TaskId id) {
    if (!entries.containsKey(id) && !cache.contains(id)) {
      wantedIds.add(id);
    }
  }

  /**
   * Names the id of a task that may be inserted. The id is almost always new, and the Bloom filters make its lookup
   * cheap. Without the lookup, an insert over an existing task with this id would leave the old index entry in the
   * index forever.
   */
  void newId(TaskId id) {
    if (!entries.containsKey(id)) {
      newIds.add(id);
    }
  }

  @Override
  public void key(KeyName name) {
    if (!locations.containsKey(name) && cache.holder(name) == null) {
      wantedKeys.add(name);
    }
  }

  /** Does nothing: answers to requests are seldom needed, so each is read on demand. */
  @Override
  public void request(RequestName request) {}

  /** Reads all live records that were named and not yet read, many at a time. */
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
        entries.put(id, cached != null ? new Entry(cached, false) : entry(id, stored));
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
        locations.put(name, KeyLocation.NOWHERE);
      } else {
        names.add(name);
        keys.add(Layout.key(key.clear(), queue, name.key()).toArray());
      }
    }
    wantedKeys.clear();
    List<byte @Nullable []> values = db.getAll(Family.KEYS, keys);
    for (int i = 0; i < names.size(); i++) {
      byte[] stored = values.get(i);
      KeyLocation location = stored == null ? KeyLocation.NOWHERE : KeyLocation.decode(stored);
      locations.put(names.get(i), location);
      if (stored != null && location.bucket() == null) {
        id(location.id());
      }
    }
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

  private Entry entry(TaskId id) {
    Entry entry = entries.get(id);
    if (entry == null) {
      TaskRecord cached = cache.get(id);
      entry = cached != null ? new Entry(cached, false) : entry(id, load(id));
      entries.put(id, entry);
    }
    return entry;
  }

  private Entry entry(TaskId id, byte @Nullable [] stored) {
    if (stored == null) {
      return Entry.ABSENT;
    }
    try {
      return new Entry(decode(id, stored), false);
    } catch (MalformedException | NewerVersionException e) {
      unreadables.add(id, e);
      return Entry.UNREADABLE;
    }
  }

  @Override
  public @Nullable TaskRecord record(TaskId id) {
    return entry(id).record();
  }

  /** Returns a record that was already read in this commit, or null if it was not read, is absent or is unreadable. */
  @Nullable
  TaskRecord ifRead(TaskId id) {
    Entry entry = entries.get(id);
    return entry == null ? null : entry.record();
  }

  @Override
  public @Nullable TaskId holder(KeyName name) {
    KeyLocation location = locations.get(name);
    if (location == null) {
      TaskId cached = cache.holder(name);
      if (cached != null) {
        return cached;
      }
      location = readLocation(name);
      locations.put(name, location);
    }
    Bucket bucket = location.bucket();
    if (bucket != null && !entries.containsKey(location.id())) {
      TaskId id = location.id();
      entries.put(id, entry(id, db.get(Family.HISTORY, Layout.historyKey(bucket, id))));
    }
    return location == KeyLocation.NOWHERE ? null : location.id();
  }

  /** Returns the location of the latest task of a key, or {@link KeyLocation#NOWHERE} if there is none. */
  KeyLocation location(KeyName name) {
    KeyLocation read = locations.get(name);
    return read != null ? read : readLocation(name);
  }

  private KeyLocation readLocation(KeyName name) {
    int queue = queues.number(name.queue());
    byte[] stored = queue < 0 ? null : db.get(Family.KEYS, Layout.key(key.clear(), queue, name.key()).toArray());
    return stored == null ? KeyLocation.NOWHERE : KeyLocation.decode(stored);
  }

  @Override
  public RecordTable.@Nullable Answered answer(RequestName request) {
    int queue = queues.number(request.queue());
    if (queue < 0 || answerBuckets.isEmpty()) {
      return null;
    }
    List<byte[]> keys = new ArrayList<>(answerBuckets.size());
    for (long bucket : answerBuckets.descendingSet()) {
      keys.add(Layout.answer(key.clear(), bucket, queue, request.key(), request.request()).toArray());
    }
    for (byte[] stored : db.getAll(Family.ANSWERS, keys)) {
      if (stored != null) {
        return RecordParts.unframeAnswer(stored);
      }
    }
    return null;
  }

  @Override
  public void ensureRoom() {
    room.ensure();
  }

  /**
   * Returns false: a record of a newer version is treated as absent here. Submits, touches, cancels and adoptions check
   * {@link #isUnreadable} first.
   */
  @Override
  public boolean isOfNewerVersion(TaskId id) {
    return false;
  }

  /** Returns whether a task exists but cannot be read. */
  boolean isUnreadable(TaskId id) {
    return entry(id).isUnreadable();
  }

  /** Returns whether the latest task of a key is live but cannot be read. */
  boolean isUnreadable(KeyName name) {
    if (cache.holder(name) != null) {
      return false;
    }
    KeyLocation location = locations.computeIfAbsent(name, this::readLocation);
    return location != KeyLocation.NOWHERE && location.bucket() == null && isUnreadable(location.id());
  }

  /**
   * Returns whether the task of a reference exists but cannot be read. A reference by key refers only to the live task.
   */
  boolean isUnreadable(TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById byId -> isUnreadable(byId.id());
      case TaskRef.ByKey byKey -> isUnreadable(new KeyName(byKey.queue(), byKey.key()));
    };
  }

  /** Removes the records and locations that were read. Called at the end of each commit. */
  void clear() {
    entries.clear();
    locations.clear();
  }
}
