package io.foliot.store.redis;

import io.foliot.core.Body;
import io.foliot.core.TaskId;
import io.foliot.core.store.Generations;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.RecordParts;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a few steps that belong together, for they are of one task or one key, read and write: reads come from a
 * {@link Snapshot}, writes stay here until they are sent. Only the difference is sent: what was read first, and what
 * stands there last. One thread.
 */
final class Unit implements RecordTable {
  private final Snapshot snapshot;
  private final Map<TaskId, TaskRecord> written = new LinkedHashMap<>();
  private final Map<String, TaskId> pointers = new HashMap<>();
  private final Map<String, Answered> answers = new LinkedHashMap<>();
  private final Map<String, byte[]> answerFields = new HashMap<>();
  private long shown;

  Unit(Snapshot snapshot) {
    this.snapshot = snapshot;
  }

  boolean isUnchanged() {
    return written.isEmpty() && answers.isEmpty();
  }

  /** How many arguments it takes to write it, at most. */
  int arguments() {
    return 1 + 7 * written.size() + 4 * answers.size();
  }

  void raiseShown(long generation) {
    shown = Math.max(shown, generation);
  }

  @Override
  public @Nullable TaskRecord get(TaskId id) {
    TaskRecord record = written.get(id);
    if (record == null) {
      Snapshot.Stored stored = snapshot.record(id);
      record = stored == null ? null : stored.record();
    }
    return record == null || record.isLive() || record.dropAt() > snapshot.nowMillis() ? record : null;
  }

  @Override
  public @Nullable TaskRecord byKey(String queue, String key) {
    String name = Snapshot.name(queue, key);
    TaskId id = pointers.containsKey(name) ? pointers.get(name) : snapshot.pointer(name);
    return id == null ? null : get(id);
  }

  @Override
  public void write(@Nullable TaskRecord before, TaskRecord after) {
    written.put(after.id(), after);
    if (after.isLive() && after.key() != null) {
      pointers.put(Snapshot.name(after.queue(), after.key()), after.id());
    }
    raiseShown(Generations.above(Generations.forgotten(before, after)));
  }

  @Override
  public RecordTable.@Nullable Answered answered(String queue, @Nullable String key, String idempotencyKey) {
    byte[] field = RecordCodec.field(queue, key, idempotencyKey);
    String name = Snapshot.name(field);
    Answered answer = answers.get(name);
    if (answer != null) {
      return answer;
    }
    byte[] stored = snapshot.answer(name);
    return stored == null ? null : RecordParts.unframeAnswer(stored);
  }

  @Override
  public void remember(String queue, @Nullable String key, String idempotencyKey, Answered answered) {
    byte[] field = RecordCodec.field(queue, key, idempotencyKey);
    answers.put(Snapshot.name(field), answered);
    answerFields.put(Snapshot.name(field), field);
  }

  /** The arguments that write it. */
  void arguments(List<byte[]> to) {
    to.add(new Bytes(12).u16(written.size()).u16(answers.size()).u64(shown).toArray());
    for (TaskRecord after : written.values()) {
      Snapshot.Stored stored = snapshot.record(after.id());
      TaskRecord before = stored == null ? null : stored.record();
      int bodyStep = bodyStep(before == null ? null : before.body(), after.body());
      TaskRecord.Successor old = before == null ? null : before.successor();
      TaskRecord.Successor next = after.successor();
      int nextStep = bodyStep(old == null ? null : old.body(), next == null ? null : next.body());
      String name = after.key() == null ? null : Snapshot.name(after.queue(), after.key());
      boolean checked = name != null && snapshot.knows(name);
      TaskId pointer = checked && name != null ? snapshot.pointer(name) : null;
      to.add(new Bytes(20).u64(after.id().high()).u64(after.id().low()).u8(stored == null ? 0 : 1).u8(bodyStep)
          .u8(nextStep).u8(!checked ? 0 : pointer == null ? 1 : 2).toArray());
      if (stored != null) {
        to.add(stored.value());
      }
      to.add(RecordCodec.encode(after));
      if (bodyStep == SET) {
        to.add(RecordCodec.encode(after.id(), after.key(), after.body()));
      }
      if (nextStep == SET && next != null) {
        to.add(RecordCodec.encode(after.id(), after.key(), Objects.requireNonNull(next.body())));
      }
      if (checked && after.key() != null) {
        to.add(RecordCodec.field(after.queue(), after.key()));
      }
      if (pointer != null) {
        to.add(RecordCodec.id(pointer));
      }
    }
    answers.forEach((name, answered) -> {
      byte[] before = snapshot.answer(name);
      to.add(before == null ? new byte[0] : before);
      to.add(Objects.requireNonNull(answerFields.get(name)));
      to.add(RecordParts.frameAnswer(answered, new Bytes(64)).toArray());
      to.add(Layout.bytes(answered.dropAt()));
    });
  }

  private static final int NOTHING = 0;
  private static final int DELETE = 1;
  private static final int SET = 2;

  /** What a body that was not read is, is known by its identity. */
  private static int bodyStep(@Nullable Body before, @Nullable Body after) {
    if (before == after) {
      return NOTHING;
    }
    return after != null && RecordCodec.hasBody(after) ? SET : before != null ? DELETE : NOTHING;
  }
}
