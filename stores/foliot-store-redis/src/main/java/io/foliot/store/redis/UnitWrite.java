package io.foliot.store.redis;

import io.foliot.api.Body;
import io.foliot.core.TaskId;
import io.foliot.core.store.Generations;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.BatchUnit;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.RecordChange;
import io.foliot.core.store.batch.RecordOverlay;
import io.foliot.core.store.batch.RequestName;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.RecordParts;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The arguments of {@code write.lua}. For each unit they contain the bytes that were read, and the new bytes. */
final class UnitWrite {
  // changes of a body
  private static final int NOTHING = 0;
  private static final int DELETE = 1;
  private static final int SET = 2;

  // checks of a key
  private static final int NO_KEY = 0;
  private static final int KEY_ABSENT = 1;
  private static final int KEY_HELD = 2;

  private final Snapshot snapshot;
  private final List<byte[]> to;

  UnitWrite(Snapshot snapshot, List<byte[]> to) {
    this.snapshot = snapshot;
    this.to = to;
  }

  /**
   * Adds a unit.
   *
   * @param minGeneration the lowest generation that the part may give out after the write; 0 for no limit
   */
  void add(BatchUnit<?> unit, long minGeneration) {
    RecordOverlay overlay = unit.overlay();
    List<RecordChange> changes = overlay.changes();
    to.add(new Bytes(12).u16(changes.size()).u16(overlay.answers().size())
        .u64(Math.max(minGeneration, Generations.above(overlay.largestForgotten()))).toArray());
    changes.forEach(this::add);
    for (Map.Entry<RequestName, RecordTable.Answered> answer : overlay.answers().entrySet()) {
      byte[] before = snapshot.storedAnswer(answer.getKey());
      to.add(before == null ? new byte[0] : before);
      to.add(RecordCodec.field(answer.getKey()));
      to.add(RecordParts.frameAnswer(answer.getValue(), new Bytes(64)).toArray());
      to.add(Layout.bytes(answer.getValue().dropAt()));
    }
  }

  private void add(RecordChange change) {
    TaskRecord after = change.after();
    Snapshot.Stored stored = snapshot.stored(after.id());
    TaskRecord before = stored == null ? null : stored.record();
    Body nextBody = after.successorBody();
    int bodyStep = bodyStep(before == null ? null : before.body(), after.body());
    // An empty body of a successor is stored too. The record says that the successor has a body, but not that the body
    // is empty.
    Body nextBefore = before == null ? null : before.successorBody();
    int nextStep = nextBefore == nextBody ? NOTHING : nextBody != null ? SET : DELETE;
    KeyName name = after.key() == null ? null : new KeyName(after.queue(), after.key());
    boolean checked = name != null && snapshot.wasRead(name);
    TaskId holder = checked && name != null ? snapshot.holder(name) : null;
    to.add(new Bytes(20).u64(after.id().high()).u64(after.id().low()).u8(stored == null ? 0 : 1).u8(bodyStep)
        .u8(nextStep).u8(!checked ? NO_KEY : holder == null ? KEY_ABSENT : KEY_HELD).toArray());
    if (stored != null) {
      to.add(stored.value());
    }
    to.add(RecordCodec.encode(after));
    if (bodyStep == SET) {
      to.add(RecordCodec.encode(after.id(), after.key(), after.body()));
    }
    if (nextStep == SET) {
      to.add(RecordCodec.encode(after.id(), after.key(), Objects.requireNonNull(nextBody)));
    }
    if (checked && name != null) {
      to.add(RecordCodec.field(name.queue(), name.key()));
    }
    if (holder != null) {
      to.add(RecordCodec.id(holder));
    }
  }

  /** Returns the change of a body. A body that was not read is the same object before and after. */
  private static int bodyStep(@Nullable Body before, @Nullable Body after) {
    if (before == after) {
      return NOTHING;
    }
    return after != null && RecordCodec.hasBody(after) ? SET : before != null ? DELETE : NOTHING;
  }
}
