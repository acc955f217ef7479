package io.foliot.store.rocksdb;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Probed;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.TaskRecordFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksIterator;

/** The reads of committed data. Thread-safe. */
final class Reader implements AutoCloseable {
  /** Maximum number of records that one query examines. This takes some tens of milliseconds. */
  private static final int MAX_EXAMINED = 20_000;
  // The first character of a cursor. The key of the last record read follows, in hexadecimal digits.
  private static final char LIVE_CURSOR = 'l';
  private static final char KEPT_CURSOR = 'k';

  private final Database db;
  private final TimeSource clock;
  private final int slotCount;
  private final Queues queues;
  private final TaskCounts tally;
  private final LowWatermarks indexWatermarks;
  private final LowWatermarks parkedWatermarks;
  private final Unreadables unreadables;
  /** The bounds of each slot in the index, created when they are first used. */
  private final AtomicReferenceArray<Database.@Nullable Range> slotRanges;

  Reader(Database db, TimeSource clock, int slotCount, Queues queues, TaskCounts tally, LowWatermarks indexWatermarks,
      LowWatermarks parkedWatermarks,
      Unreadables unreadables) {
    this.db = db;
    this.clock = clock;
    this.slotCount = slotCount;
    this.queues = queues;
    this.tally = tally;
    this.indexWatermarks = indexWatermarks;
    this.parkedWatermarks = parkedWatermarks;
    this.unreadables = unreadables;
    slotRanges = new AtomicReferenceArray<>(slotCount);
  }

  private Database.Range slotRange(int slot) {
    Database.Range range = slotRanges.get(slot);
    if (range == null) {
      Database.Range made = db.range(new Bytes(2).u16(slot).array());
      if (slotRanges.compareAndSet(slot, null, made)) {
        return made;
      }
      made.close();
      range = slotRanges.get(slot);
      assert range != null;
    }
    return range;
  }

  /** Returns whether the watermark shows, without a read, that the scan would find nothing. */
  boolean findsNothing(DueScan scan) {
    return indexWatermarks.watermark(scan.slot()) > scan.toWakeAt();
  }

  DueSlice due(DueScan scan) {
    int slot = scan.slot();
    if (findsNothing(scan)) {
      return new DueSlice(slot, List.of(), false);
    }
    boolean isRegistered = indexWatermarks.begin(slot);
    long watermark = indexWatermarks.watermark(slot);
    // Only a scan that begins at or before the watermark reads the first entry of the slot.
    boolean fromWatermark = scan.fromWakeAt() < watermark || (scan.fromWakeAt() == watermark && scan.after() == null);
    long first = LowWatermarks.UNKNOWN;
    try (RocksIterator iterator = db.iterator(Family.INDEX, slotRange(slot))) {
      DueSlice slice = due(scan, watermark, iterator);
      if (fromWatermark && slice.entries().isEmpty()) {
        first = iterator.isValid() ? BytesReader.ordered(iterator.key(), Layout.INDEX_WAKE_AT) : LowWatermarks.EMPTY;
      } else if (fromWatermark) {
        first = slice.entries().getFirst().wakeAt();
      }
      return slice;
    } finally {
      if (isRegistered) {
        indexWatermarks.end(slot, first);
      }
    }
  }

  private DueSlice due(DueScan scan, long watermark, RocksIterator iterator) {
    TaskId after = scan.fromWakeAt() >= watermark ? scan.after() : null;
    long from = Math.max(scan.fromWakeAt(), watermark);
    TaskId fromId = after == null ? new TaskId(0, 0) : after;
    iterator.seek(Layout.index(new Bytes(Layout.INDEX_KEY), scan.slot(), from, fromId).array());
    List<DueEntry> entries = new ArrayList<>();
    boolean more = false;
    byte[] key = new byte[Layout.INDEX_KEY];
    byte[] value = new byte[4];
    for (; iterator.isValid(); iterator.next()) {
      iterator.key(key);
      long wakeAt = BytesReader.ordered(key, Layout.INDEX_WAKE_AT);
      TaskId id = Layout.id(key, Layout.INDEX_ID_AT);
      if ((after != null && wakeAt == from && id.equals(after)) || unreadables.contains(id)) {
        continue;
      }
      if (wakeAt > scan.toWakeAt()) {
        break;
      }
      if (entries.size() == scan.limit()) {
        more = true;
        break;
      }
      iterator.value(value);
      entries.add(new DueEntry(wakeAt, id, queues.name(BytesReader.u32(value, 0))));
    }
    Database.check(iterator);
    return new DueSlice(scan.slot(), entries, more);
  }

  List<DueEntry> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    int number = queues.number(queue);
    List<DueEntry> found = new ArrayList<>();
    if (number < 0 || parkedWatermarks.watermark(number) == LowWatermarks.EMPTY) {
      return found;
    }
    boolean isRegistered = after == null && parkedWatermarks.begin(number);
    long watermark = parkedWatermarks.watermark(number);
    long first = LowWatermarks.UNKNOWN;
    byte[] prefix = new Bytes(4).u32(number).array();
    try (Database.Range range = db.range(prefix); RocksIterator iterator = db.iterator(Family.PARKED, range)) {
      boolean fromWatermark = after == null || after.wakeAt() < watermark;
      Bytes from = new Bytes(Layout.PARKED_KEY);
      iterator.seek(fromWatermark || after == null
          ? Layout.parked(from, number, watermark, new TaskId(0, 0)).array()
          : Layout.parked(from, number, after.wakeAt(), after.id()).array());
      if (isRegistered) {
        first = iterator.isValid() ? BytesReader.ordered(iterator.key(), Layout.PARKED_WAKE_AT) : LowWatermarks.EMPTY;
      }
      for (; iterator.isValid() && found.size() < limit; iterator.next()) {
        byte[] key = iterator.key();
        TaskId id = Layout.id(key, Layout.PARKED_ID_AT);
        DueEntry entry = new DueEntry(BytesReader.ordered(key, Layout.PARKED_WAKE_AT), id, queue);
        if (slots.contains(id) && !entry.equals(after) && !unreadables.contains(id)) {
          found.add(entry);
        }
      }
      Database.check(iterator);
      return found;
    } catch (RuntimeException e) {
      first = LowWatermarks.UNKNOWN;
      throw e;
    } finally {
      if (isRegistered) {
        parkedWatermarks.end(number, first);
      }
    }
  }

  Set<String> parkedQueues(SlotSet slots) {
    Set<String> found = new HashSet<>();
    tally.published().forEach((queue, counts) -> {
      if (counts.parked() > 0 && (slots.isAll() || !parked(queue, slots, null, 1).isEmpty())) {
        found.add(queue);
      }
    });
    return found;
  }

  List<Probed> probe(List<TaskId> ids) {
    List<byte[]> keys = ids.stream().map(Layout::recordKey).toList();
    List<Probed> found = new ArrayList<>(ids.size());
    for (byte[] stored : db.getAll(Family.RECORDS, keys)) {
      found.add(stored == null ? Probed.UNKNOWN : TaskRecordFormat.probed(stored));
    }
    return found;
  }

  /** Returns the lease ends in ms since 1970, in the order of the ids; {@link Long#MIN_VALUE} for tasks not running. */
  List<Long> leaseEnds(List<TaskId> ids) {
    List<Long> ends = new ArrayList<>(ids.size());
    for (byte[] stored : db.getAll(Family.RECORDS, ids.stream().map(Layout::recordKey).toList())) {
      ends.add(stored == null ? Long.MIN_VALUE : TaskRecordFormat.leaseEnd(stored));
    }
    return ends;
  }

  Optional<TaskRecord> find(TaskRef ref) {
    try (Database.View view = db.view()) {
      TaskRecord record = switch (ref) {
        case TaskRef.ById byId -> byId(byId.id(), view);
        case TaskRef.ByKey byKey -> byKey(byKey.queue(), byKey.key(), view);
      };
      return Optional.ofNullable(record).filter(this::isRetained);
    }
  }

  List<Optional<TaskRecord>> find(List<TaskId> ids) {
    List<@Nullable Optional<TaskRecord>> found = new ArrayList<>(ids.size());
    StoreException unreadable = null;
    try (Database.View view = db.view()) {
      for (TaskId id : ids) {
        try {
          found.add(Optional.ofNullable(byId(id, view)).filter(this::isRetained));
        } catch (MalformedException | NewerVersionException e) {
          unreadables.add(id, e);
          unreadable = new StoreAwayException("a task cannot be read by this Foliot; the log names the reason: task="
              + id, e);
          found.add(null);
        }
      }
    }
    if (unreadable != null) {
      throw ItemsFailedException.of(found, unreadable);
    }
    return found.stream().map(Objects::requireNonNull).toList();
  }

  private boolean isRetained(TaskRecord record) {
    return record.isLive() || record.dropAt() > clock.wallMillis();
  }

  private @Nullable TaskRecord byId(TaskId id, Database.View view) {
    byte[] live = db.get(Family.RECORDS, view, Layout.recordKey(id));
    if (live != null) {
      return decode(id, live, view);
    }
    for (Bucket bucket : tally.buckets()) {
      byte[] kept = db.get(Family.HISTORY, view, Layout.historyKey(bucket, id));
      if (kept != null) {
        return decode(id, kept, view);
      }
    }
    return null;
  }

  private @Nullable TaskRecord byKey(String queue, String key, Database.View view) {
    int number = queues.number(queue);
    byte[] stored = number < 0
        ? null
        : db.get(Family.KEYS, view, Layout.key(new Bytes(64), number, key).toArray());
    if (stored == null) {
      return null;
    }
    KeyLocation location = KeyLocation.decode(stored);
    Bucket bucket = location.bucket();
    TaskId id = location.id();
    byte[] record = bucket == null
        ? db.get(Family.RECORDS, view, Layout.recordKey(id))
        : db.get(Family.HISTORY, view, Layout.historyKey(bucket, id));
    return record == null ? null : decode(id, record, view);
  }

  private TaskRecord decode(TaskId id, byte[] stored, Database.View view) {
    return TaskRecordFormat.decode(id, stored, queues::name, (task, ofSuccessor) -> db.get(Family.BODIES, view,
        Layout.body(new Bytes(17), task, ofSuccessor).toArray()));
  }

  RecordPage query(String queue, @Nullable TaskState state, int limit, @Nullable String cursor) {
    boolean includesLive = state == null || !state.isFinal();
    boolean includesKept = state == null || state.isFinal();
    boolean inKept = cursor == null ? !includesLive : cursorKind(cursor) == KEPT_CURSOR;
    byte @Nullable [] after = cursor == null ? null : cursorKey(cursor);
    int number = queues.number(queue);
    if (number < 0) {
      return new RecordPage(List.of(), null);
    }
    Query query = new Query(number, state, Math.max(1, limit), clock.wallMillis());
    try (Database.View view = db.view()) {
      if (!inKept) {
        byte[] last = query.live(after, view);
        if (last != null) {
          return query.page(LIVE_CURSOR, last);
        }
        after = null;
      }
      byte[] last = includesKept ? query.kept(after, view) : null;
      return last == null ? new RecordPage(query.found, null) : query.page(KEPT_CURSOR, last);
    }
  }

  RecordPage live(int limit, @Nullable String cursor) {
    if (cursor != null && cursorKind(cursor) != LIVE_CURSOR) {
      throw new IllegalArgumentException("the cursor is not one of this store: cursor=" + cursor);
    }
    List<TaskRecord> found = new ArrayList<>();
    try (Database.View view = db.view(); RocksIterator iterator = db.iterator(Family.RECORDS, view)) {
      seekBehind(iterator, cursor == null ? null : cursorKey(cursor));
      for (; iterator.isValid(); iterator.next()) {
        found.add(decode(Layout.id(iterator.key(), 0), iterator.value(), view));
        if (found.size() == limit) {
          return new RecordPage(found, LIVE_CURSOR + HexFormat.of().formatHex(iterator.key()));
        }
      }
      Database.check(iterator);
      return new RecordPage(found, null);
    }
  }

  private static void seekBehind(RocksIterator iterator, byte @Nullable [] after) {
    if (after == null) {
      iterator.seekToFirst();
      return;
    }
    iterator.seek(after);
    if (iterator.isValid() && Arrays.equals(iterator.key(), after)) {
      iterator.next();
    }
  }

  private static char cursorKind(String cursor) {
    char kind = cursor.isEmpty() ? ' ' : cursor.charAt(0);
    if (kind != LIVE_CURSOR && kind != KEPT_CURSOR) {
      throw new IllegalArgumentException("the cursor is not one of this store: cursor=" + cursor);
    }
    return kind;
  }

  private static byte[] cursorKey(String cursor) {
    int expected = cursorKind(cursor) == LIVE_CURSOR ? 16 : Layout.HISTORY_KEY;
    try {
      byte[] key = HexFormat.of().parseHex(cursor, 1, cursor.length());
      if (key.length == expected) {
        return key;
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("the cursor is not one of this store: cursor=" + cursor, e);
    }
    throw new IllegalArgumentException("the cursor is not one of this store: cursor=" + cursor);
  }

  /** One query. It reads first the live records, ordered by id, and then the history, ordered by bucket and id. */
  private final class Query {
    final List<TaskRecord> found = new ArrayList<>();
    private final int queue;
    private final @Nullable TaskState state;
    private final int limit;
    private final long nowMillis;
    private int examined;

    Query(int queue, @Nullable TaskState state, int limit, long nowMillis) {
      this.queue = queue;
      this.state = state;
      this.limit = limit;
      this.nowMillis = nowMillis;
    }

    RecordPage page(char kind, byte[] last) {
      return new RecordPage(found, kind + HexFormat.of().formatHex(last));
    }

    private boolean isDone() {
      return found.size() == limit || examined >= MAX_EXAMINED;
    }

    /**
     * Reads live records until {@link #isDone} or the end. Returns the last key read, or null if the end was reached.
     */
    byte @Nullable [] live(byte @Nullable [] after, Database.View view) {
      try (RocksIterator iterator = db.iterator(Family.RECORDS, view)) {
        seekBehind(iterator, after);
        byte[] last = scan(iterator, 0, view);
        Database.check(iterator);
        return last;
      }
    }

    /**
     * Reads final records until {@link #isDone} or the end. Returns the last key read, or null if the end was reached.
     */
    byte @Nullable [] kept(byte @Nullable [] after, Database.View view) {
      try (RocksIterator iterator = db.iterator(Family.HISTORY, view)) {
        Bucket start = after == null ? null : Layout.bucket(after, 0);
        for (Bucket bucket : tally.buckets()) {
          boolean isPassed = start != null && bucket.compareTo(start) < 0;
          boolean isOther = state != null && bucket.ofFailed() != (state == TaskState.FAILED);
          if (isPassed || isOther) {
            continue;
          }
          if (bucket.equals(start)) {
            seekBehind(iterator, after);
          } else {
            iterator.seek(Layout.bucket(new Bytes(5), bucket).array());
          }
          byte[] last = scanBucket(iterator, bucket, view);
          if (last != null) {
            return last;
          }
        }
        return null;
      }
    }

    private byte @Nullable [] scanBucket(RocksIterator iterator, Bucket bucket, Database.View view) {
      for (; iterator.isValid() && Layout.bucket(iterator.key(), 0).equals(bucket); iterator.next()) {
        examine(iterator, Layout.HISTORY_ID_AT, view);
        if (isDone()) {
          return iterator.key();
        }
      }
      // The loop ends at the end of the bucket, or after an error. This check must be here, because the next seek
      // clears the error.
      Database.check(iterator);
      return null;
    }

    private byte @Nullable [] scan(RocksIterator iterator, int idAt, Database.View view) {
      for (; iterator.isValid(); iterator.next()) {
        examine(iterator, idAt, view);
        if (isDone()) {
          return iterator.key();
        }
      }
      return null;
    }

    private void examine(RocksIterator iterator, int idAt, Database.View view) {
      examined++;
      byte[] stored = iterator.value();
      if (TaskRecordFormat.queueOf(stored) != queue) {
        return;
      }
      TaskRecord record;
      TaskId id = Layout.id(iterator.key(), idAt);
      try {
        record = decode(id, stored, view);
      } catch (MalformedException | NewerVersionException e) {
        unreadables.add(id, e);
        return;
      }
      if ((state == null || record.stateAt(nowMillis) == state)
          && (record.isLive() || record.dropAt() > nowMillis)) {
        found.add(record);
      }
    }
  }

  @Override
  public void close() {
    for (int i = 0; i < slotCount; i++) {
      Database.Range range = slotRanges.getAndSet(i, null);
      if (range != null) {
        range.close();
      }
    }
  }
}
