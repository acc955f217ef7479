package io.foliot.store.redis;

import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import io.foliot.core.store.batch.BatchStep;
import io.foliot.core.store.batch.BatchSteps;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The step that touches tasks. A touch takes the general path if it names its task by id, or if a script cannot compute
 * exactly with its due time. The fast path handles any other touch if the key has a waiting task, or if the key has no
 * live task and this node remembers no task of the key.
 */
final class TouchStep implements RedisOperation<Touch, TouchResult>, RedisOperation.Hot<Touch, TouchResult> {
  // answers of touch.lua; NOT_PLAIN means that the item needs the general path
  private static final int NOT_FOUND = 0;
  private static final int PENDING = 2;
  private static final int NOT_PLAIN = 9;
  /** Bytes of the due time and of the longest wait in the arguments. */
  private static final int NUMBERS = 17;

  /** First byte of an argument that contains the id of the key's last known task instead of the key. */
  private static final int KNOWN = 1;

  private final Terms terms;
  private final Recent<String, TaskId> known;

  TouchStep(Terms terms, Recent<String, TaskId> known) {
    this.terms = terms;
    this.known = known;
  }

  static int hash16(TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById byId -> byId.id().hash16();
      case TaskRef.ByKey byKey -> SlotHash.of(byKey.queue(), byKey.key());
    };
  }

  @Override
  public int hash16(Touch touch) {
    return hash16(touch.ref());
  }

  @Override
  public BatchStep<Touch, TouchResult> general() {
    return BatchSteps.TOUCH;
  }

  @Override
  public Hot<Touch, TouchResult> hot() {
    return this;
  }

  @Override
  public Script script() {
    return Script.TOUCH;
  }

  @Override
  public boolean isUsual(Touch touch) {
    return touch.ref() instanceof TaskRef.ByKey && Terms.isExact(touch.due());
  }

  /** Returns the key of a touch, or null if the touch names its task by id: such a task may have any key. */
  @Override
  public @Nullable Object name(Touch touch) {
    return touch.ref() instanceof TaskRef.ByKey ? touch.ref() : null;
  }

  @Override
  public void arguments(List<Touch> touches, List<byte[]> to) {
    int at = to.size();
    boolean same = true;
    for (Touch touch : touches) {
      TaskRef.ByKey ref = (TaskRef.ByKey) touch.ref();
      TaskId id = known.of(Snapshot.name(ref.queue(), ref.key()));
      to.add(id == null
          ? RecordCodec.field(ref.queue(), ref.key())
          : new Bytes(17).u8(KNOWN).u64(id.high()).u64(id.low()).toArray());
      same = same && touch.due().equals(touches.getFirst().due())
          && ref.queue().equals(((TaskRef.ByKey) touches.getFirst().ref()).queue());
    }
    List<Touch> different = same ? touches.subList(0, 1) : touches;
    Bytes numbers = new Bytes(NUMBERS * different.size());
    for (Touch touch : different) {
      Terms.due(touch.due(), numbers).u64(terms.maxWait(((TaskRef.ByKey) touch.ref()).queue()));
    }
    to.add(at, numbers.toArray());
  }

  @Override
  public void answers(List<Object> reply, List<Touch> touches, List<@Nullable TouchResult> to) {
    BytesReader in = new BytesReader((byte[]) reply.getFirst());
    for (Touch touch : touches) {
      TaskRef.ByKey ref = (TaskRef.ByKey) touch.ref();
      int kind = in.u8();
      if (kind == NOT_PLAIN) {
        known.forget(Snapshot.name(ref.queue(), ref.key()));
        to.add(null);
      } else if (kind == NOT_FOUND) {
        to.add(TouchResult.NOT_FOUND);
      } else {
        boolean indexed = in.u8() == 1;
        long generation = in.u64();
        long dueAt = in.u64();
        TaskId id = in.id();
        known.remember(Snapshot.name(ref.queue(), ref.key()), id);
        to.add(
            new TouchResult(kind == PENDING ? TouchResult.Kind.RESET_PENDING : TouchResult.Kind.RESET, id, generation,
                dueAt, indexed));
      }
    }
  }
}
