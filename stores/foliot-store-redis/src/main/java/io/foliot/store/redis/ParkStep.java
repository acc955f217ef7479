package io.foliot.store.redis;

import io.foliot.core.store.DueEntry;
import io.foliot.core.store.batch.BatchStep;
import io.foliot.core.store.batch.BatchSteps;
import io.foliot.core.store.format.Bytes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The step that parks tasks. The general path handles running tasks whose entries still have the time that was read,
 * records that the script cannot read, and entries with a time that the script cannot represent exactly. The fast path
 * handles all other entries.
 */
final class ParkStep implements RedisOperation<DueEntry, Boolean>, RedisOperation.Hot<DueEntry, Boolean> {
  /** Answer of the script for an item that needs the general path. */
  private static final int NOT_PLAIN = 9;

  @Override
  public int hash16(DueEntry entry) {
    return entry.id().hash16();
  }

  @Override
  public BatchStep<DueEntry, Boolean> general() {
    return BatchSteps.PARK;
  }

  @Override
  public Hot<DueEntry, Boolean> hot() {
    return this;
  }

  @Override
  public Script script() {
    return Script.PARK;
  }

  @Override
  public boolean isUsual(DueEntry entry) {
    return Terms.isExact(entry.wakeAt());
  }

  @Override
  public Object name(DueEntry entry) {
    return entry.id();
  }

  @Override
  public void arguments(List<DueEntry> entries, List<byte[]> to) {
    Bytes numbers = new Bytes(8 * entries.size());
    int at = to.size();
    for (DueEntry entry : entries) {
      numbers.u64(entry.wakeAt());
      to.add(RecordCodec.id(entry.id()));
    }
    to.add(at, numbers.toArray());
  }

  @Override
  public void answers(List<Object> reply, List<DueEntry> entries, List<@Nullable Boolean> to) {
    for (byte answer : (byte[]) reply.getFirst()) {
      to.add(answer == NOT_PLAIN ? null : Boolean.valueOf(answer == 1));
    }
  }
}
