package io.foliot.store.redis;

import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.CommittedRecords;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.RequestName;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.RecordParts;
import io.foliot.core.store.format.UnreadableException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The records, keys and answers that one script call reads in a part. {@link #fill} adds them. Not thread-safe. */
final class Snapshot implements CommittedRecords {
  private static final int WITH_BODIES = 1;
  private static final int WITH_HOLDERS = 2;

  private final boolean bodies;
  private final boolean holders;
  private final ReadSet reads;

  private @Nullable StoreFullException full;
  private long nowMicros;
  private long minGeneration;
  private final Map<TaskId, Stored> records = new HashMap<>();
  private final Map<TaskId, Damaged> damaged = new LinkedHashMap<>();
  private final Map<KeyName, @Nullable TaskId> pointers = new HashMap<>();
  private final Map<RequestName, byte[]> answers = new HashMap<>();

  /** A record, and the bytes from which it was decoded. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Stored(byte[] value, TaskRecord record) {}

  /** A record that cannot be decoded, and is live or may be live. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Damaged(TaskId id, byte[] value, UnreadableException reason) {}

  Snapshot(ReadSet reads, boolean bodies, boolean holders) {
    this.reads = reads;
    this.bodies = bodies;
    this.holders = holders;
  }

  /** Sets why the server has no memory for new tasks. */
  void full(StoreFullException reason) {
    full = reason;
  }

  @Override
  public void ensureRoom() {
    if (full != null) {
      throw full;
    }
  }

  static String name(String queue, String key) {
    return queue + '\0' + key;
  }

  static String name(byte[] field) {
    return new String(field, StandardCharsets.UTF_8);
  }

  /** Appends the arguments of {@code read.lua}. */
  List<byte[]> arguments(List<byte[]> to) {
    to.add(Layout.bytes((bodies ? WITH_BODIES : 0) | (holders ? WITH_HOLDERS : 0)));
    to.add(Layout.bytes(reads.ids().size()));
    to.add(Layout.bytes(reads.keys().size()));
    reads.ids().forEach(id -> to.add(RecordCodec.id(id)));
    reads.keys().forEach(key -> to.add(RecordCodec.field(key.queue(), key.key())));
    reads.requests().forEach(request -> to.add(RecordCodec.field(request)));
    return to;
  }

  /**
   * Adds the contents of a reply of {@code read.lua}. A record has 3 values: itself, its payload and its successor's
   * payload. A key has 4 values: the id of its task and the values of its record. An answer has 1 value. If holders are
   * read, the 4 values of a record's key follow the record.
   */
  void fill(List<Object> reply) {
    nowMicros = (Long) reply.getFirst();
    minGeneration = (Long) reply.get(1);
    int at = 2;
    for (TaskId id : reads.ids()) {
      Stored found = stored(id, reply, at);
      at += 3;
      if (holders) {
        if (found != null && found.record().key() != null) {
          pointer(new KeyName(found.record().queue(), found.record().key()), reply, at);
        }
        at += 4;
      }
    }
    for (KeyName key : reads.keys()) {
      pointer(key, reply, at);
      at += 4;
    }
    for (RequestName request : reads.requests()) {
      byte[] value = (byte[]) reply.get(at++);
      if (value != null) {
        answers.put(request, value);
      }
    }
  }

  private void pointer(KeyName name, List<Object> reply, int at) {
    byte[] id = (byte[]) reply.get(at);
    pointers.put(name, id == null ? null : RecordCodec.id(id));
    if (id != null) {
      Stored holder = stored(RecordCodec.id(id), reply, at + 1);
      assert holder != null || damaged.containsKey(RecordCodec.id(id)) : "a key must point to a record: key=" + name;
    }
  }

  /**
   * Adds a record, unless the record was added before. Each record is decoded only once, because records are compared
   * by identity. Returns null if the record does not exist or cannot be decoded.
   */
  private @Nullable Stored stored(TaskId id, List<Object> reply, int at) {
    byte[] value = (byte[]) reply.get(at);
    if (value == null) {
      return null;
    }
    Stored known = records.get(id);
    if (known == null && !damaged.containsKey(id)) {
      try {
        known = new Stored(value, decoded(id, value, (byte[]) reply.get(at + 1), (byte[]) reply.get(at + 2), bodies));
        records.put(id, known);
      } catch (UnreadableException e) {
        damaged.put(id, new Damaged(id, value, e));
      }
    }
    return known;
  }

  /**
   * Decodes a record. If bodies were read, also checks that a live record has its payload. A final record is returned
   * without its payload if the payload cannot be read.
   */
  static TaskRecord decoded(TaskId id, byte[] value, byte @Nullable [] body, byte @Nullable [] nextBody,
      boolean bodies) {
    try {
      TaskRecord record = RecordCodec.decode(id, value, body, nextBody);
      if (bodies && record.isLive() && !RecordCodec.isWhole(record)) {
        throw new DamagedException("the payload of a task is missing: task=" + id, null);
      }
      return record;
    } catch (UnreadableException e) {
      TaskRecord bare = e instanceof NewerVersionException || body == null
          ? null
          : RecordCodec.decode(id, value, null, null);
      if (bare == null || bare.isLive()) {
        throw e;
      }
      return bare;
    }
  }

  /** Returns the records to set aside: they cannot be read, and no newer version wrote them. */
  List<Damaged> toSetAside() {
    return damaged.values().stream().filter(record -> !(record.reason() instanceof NewerVersionException)).toList();
  }

  @Override
  public boolean isOfNewerVersion(TaskId id) {
    Damaged found = damaged.get(id);
    return found != null && found.reason() instanceof NewerVersionException;
  }

  long nowMicros() {
    return nowMicros;
  }

  long nowMillis() {
    return Math.floorDiv(nowMicros, 1_000);
  }

  /** Returns the lowest generation that the part may give out. */
  long minGeneration() {
    return minGeneration;
  }

  /**
   * Returns the record that is stored under an id, even an expired record. Returns null if there is no record or if it
   * cannot be decoded.
   */
  @Nullable
  Stored stored(TaskId id) {
    return records.get(id);
  }

  @Override
  public @Nullable TaskRecord record(TaskId id) {
    Stored found = records.get(id);
    return found == null ? null : found.record();
  }

  /** Returns whether the key was read. */
  boolean wasRead(KeyName name) {
    return pointers.containsKey(name);
  }

  @Override
  public @Nullable TaskId holder(KeyName name) {
    return pointers.get(name);
  }

  /** Returns the bytes of the answer to a request, or null if there is none. */
  byte @Nullable [] storedAnswer(RequestName request) {
    return answers.get(request);
  }

  @Override
  public RecordTable.@Nullable Answered answer(RequestName request) {
    byte[] bytes = answers.get(request);
    return bytes == null ? null : RecordParts.unframeAnswer(bytes);
  }
}
