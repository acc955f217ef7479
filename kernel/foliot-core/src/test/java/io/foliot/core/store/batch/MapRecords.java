package io.foliot.core.store.batch;

import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.TaskRecordFormat;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A record table in maps. No record, key or answer is ever dropped. */
final class MapRecords implements CommittedRecords, RecordTable {
  final Map<TaskId, TaskRecord> records = new HashMap<>();
  final Map<KeyName, TaskId> holders = new HashMap<>();
  final Map<RequestName, Answered> answers = new HashMap<>();
  final Set<TaskId> ofNewerVersion = new HashSet<>();

  MapRecords copy() {
    MapRecords copy = new MapRecords();
    copy.records.putAll(records);
    copy.holders.putAll(holders);
    copy.answers.putAll(answers);
    copy.ofNewerVersion.addAll(ofNewerVersion);
    return copy;
  }

  /**
   * Writes a unit if each record, holder and answer that the unit changes is still the same as in {@code read}. Returns
   * whether the unit was written.
   */
  boolean write(BatchUnit<?> unit, MapRecords read) {
    boolean isCurrent = unit.overlay().changes().stream()
        .allMatch(change -> records.get(change.id()) == read.records.get(change.id())
            && (change.before() != null || !holderChanged(change, read)))
        && unit.overlay().answers().keySet().stream().allMatch(name -> answers.get(name) == read.answers.get(name));
    if (isCurrent) {
      unit.overlay().changes().forEach(change -> write(change.before(), change.after()));
      answers.putAll(unit.overlay().answers());
    }
    return isCurrent;
  }

  private boolean holderChanged(RecordChange change, MapRecords read) {
    String key = change.after().key();
    if (key == null) {
      return false;
    }
    KeyName name = new KeyName(change.after().queue(), key);
    TaskId old = read.holders.get(name);
    TaskId holder = holders.get(name);
    return old == null ? holder != null : !old.equals(holder) || records.get(holder) != read.records.get(old);
  }

  @Override
  public void ensureRoom() {}

  @Override
  public @Nullable TaskRecord record(TaskId id) {
    return records.get(id);
  }

  @Override
  public @Nullable TaskId holder(KeyName key) {
    return holders.get(key);
  }

  @Override
  public @Nullable Answered answer(RequestName request) {
    return answers.get(request);
  }

  @Override
  public boolean isOfNewerVersion(TaskId id) {
    return ofNewerVersion.contains(id);
  }

  @Override
  public @Nullable TaskRecord get(TaskId id) {
    return records.get(id);
  }

  @Override
  public @Nullable TaskRecord byKey(String queue, String key) {
    TaskId id = holders.get(new KeyName(queue, key));
    return id == null ? null : records.get(id);
  }

  @Override
  public void write(@Nullable TaskRecord before, TaskRecord after) {
    records.put(after.id(), after);
    if (after.isLive() && after.key() != null) {
      holders.put(new KeyName(after.queue(), after.key()), after.id());
    }
  }

  @Override
  public @Nullable Answered answered(String queue, @Nullable String key, String idempotencyKey) {
    return answers.get(new RequestName(queue, key, idempotencyKey));
  }

  @Override
  public void remember(String queue, @Nullable String key, String idempotencyKey, Answered answered) {
    answers.put(new RequestName(queue, key, idempotencyKey), answered);
  }

  /** Returns all records, all holders of keys and all answers as texts that a test compares, sorted by name. */
  Map<String, String> contents() {
    Map<String, String> contents = new TreeMap<>();
    records.forEach((id, record) -> {
      Bytes bytes = new Bytes(256);
      TaskRecordFormat.encode(record, 0, bytes);
      contents.put(id.toString(), HexFormat.of().formatHex(bytes.toArray()));
    });
    holders.forEach((name, id) -> contents.put(name.toString(), id.toString()));
    answers.forEach((name, answered) -> contents.put(name.toString(), answered.toString()));
    return contents;
  }
}
