package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What was read, and over it what a batch makes of it, until all of it is written. One thread.
 *
 * <p>Only what was asked for is here: a record that was not is absent to the batch.
 */
final class Overlay implements RecordTable {
  private static final class Place {
    private final @Nullable Row read;
    private TaskRecord now;

    Place(@Nullable Row read, TaskRecord now) {
      this.read = read;
      this.now = now;
    }
  }

  private record Remembered(RequestName name, RecordTable.Answered answered) {}

  private final Snapshot snapshot;
  private final long nowMillis;
  private final Map<TaskId, Place> places = new LinkedHashMap<>();
  private final Map<KeyName, TaskId> holders = new HashMap<>();
  private final Map<RequestName, RecordTable.Answered> answers;
  private final List<Remembered> remembered = new ArrayList<>();

  Overlay(Snapshot snapshot) {
    this.snapshot = snapshot;
    nowMillis = Math.floorDiv(snapshot.micros(), 1_000);
    answers = new HashMap<>(snapshot.answers());
    for (Row row : snapshot.rows()) {
      places.putIfAbsent(row.record().id(), new Place(row, row.record()));
    }
    places.values().forEach(place -> hold(place.now));
  }

  /** The live task has its key, or else the one that had it last. */
  private void hold(TaskRecord record) {
    String key = record.key();
    if (key == null) {
      return;
    }
    holders.merge(new KeyName(record.queue(), key), record.id(), (old, next) -> {
      TaskRecord holder = placeOf(old).now;
      boolean older = holder.isLive() || (!record.isLive() && holder.generation() > record.generation());
      return older ? old : next;
    });
  }

  private Place placeOf(TaskId id) {
    Place place = places.get(id);
    assert place != null : id;
    return place;
  }

  /** Whether a record was written by a newer version, so that nothing here may change it. */
  boolean isOfNewerVersion(TaskRecord record) {
    Place place = places.get(record.id());
    return place != null && place.read != null && place.read.isOfNewerVersion();
  }

  long micros() {
    return snapshot.micros();
  }

  long floor() {
    return snapshot.floor();
  }

  @Override
  public @Nullable TaskRecord get(TaskId id) {
    Place place = places.get(id);
    return place != null && (place.now.isLive() || place.now.dropAt() > nowMillis) ? place.now : null;
  }

  @Override
  public @Nullable TaskRecord byKey(String queue, String key) {
    TaskId id = holders.get(new KeyName(queue, key));
    return id == null ? null : get(id);
  }

  @Override
  public void write(@Nullable TaskRecord before, TaskRecord after) {
    Place place = places.get(after.id());
    if (place == null) {
      places.put(after.id(), new Place(null, after));
    } else {
      place.now = after;
    }
    if (after.isLive() && after.key() != null) {
      holders.put(new KeyName(after.queue(), after.key()), after.id());
    }
  }

  @Override
  public RecordTable.@Nullable Answered answered(String queue, @Nullable String key, String idempotencyKey) {
    return answers.get(new RequestName(queue, key, idempotencyKey));
  }

  @Override
  public void remember(String queue, @Nullable String key, String idempotencyKey, RecordTable.Answered answered) {
    RequestName name = new RequestName(queue, key, idempotencyKey);
    answers.put(name, answered);
    remembered.add(new Remembered(name, answered));
  }

  /** All that must be written, the changes of one record as one. */
  List<Change> changes(Numbers numbers, int slotCount) {
    List<Change> changes = new ArrayList<>();
    for (Place place : places.values()) {
      Row read = place.read;
      if (read == null || read.record() != place.now) {
        int queue = numbers.of(place.now.queue());
        int part = place.now.parked() ? Parts.parked(queue) : place.now.id().slot(slotCount);
        changes.add(new Change(read == null ? null : read.record(), read == null ? 0 : read.version(), place.now,
            queue, part));
      }
    }
    return changes;
  }

  /** The answers that must be written, with the changes among these that they depend on. */
  List<NewAnswer> newAnswers(List<Change> changes, Numbers numbers) {
    Map<TaskId, Integer> changed = new HashMap<>();
    for (int i = 0; i < changes.size(); i++) {
      changed.put(changes.get(i).after().id(), i);
    }
    return remembered.stream().map(item -> new NewAnswer(item.name(), numbers.of(item.name().queue()), item.answered(),
        changed.getOrDefault(item.answered().result().id(), -1))).toList();
  }

  /** Whether the answer about a task may rest on one of these, which could not be written. */
  boolean restsOn(@Nullable TaskRecord task, Set<TaskId> failed) {
    if (task == null) {
      return false;
    }
    TaskId holder = task.key() == null ? null : holders.get(new KeyName(task.queue(), task.key()));
    return failed.contains(task.id()) || (holder != null && failed.contains(holder));
  }
}
