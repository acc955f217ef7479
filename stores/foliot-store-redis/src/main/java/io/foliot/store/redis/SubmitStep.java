package io.foliot.store.redis;

import io.foliot.api.OnConflict;
import io.foliot.core.SlotHash;
import io.foliot.core.store.Draft;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.batch.BatchStep;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.Reads;
import io.foliot.core.store.batch.RequestName;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.EnumCodes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The step that submits tasks. The fast path handles a draft that has neither an idempotency key nor an expected
 * generation, if a script can compute exactly with its due time. The draft needs the general path if its key has a
 * task that runs or cannot be read.
 */
final class SubmitStep
    implements
      RedisOperation<Draft, SubmitResult>,
      RedisOperation.Hot<Draft, SubmitResult>,
      BatchStep<Draft, SubmitResult> {
  private static final byte[] NOTHING = {};
  /** Answer of the script for an item that needs the general path. */
  private static final int NOT_PLAIN = 9;

  private final Terms terms;

  SubmitStep(Terms terms) {
    this.terms = terms;
  }

  @Override
  public int hash16(Draft draft) {
    return draft.key() == null ? draft.id().hash16() : SlotHash.of(draft.queue(), draft.key());
  }

  @Override
  public BatchStep<Draft, SubmitResult> general() {
    return this;
  }

  @Override
  public void wants(Draft draft, Reads reads) {
    if (draft.key() != null) {
      reads.key(new KeyName(draft.queue(), draft.key()));
    }
    if (draft.idempotency() != null) {
      reads.request(new RequestName(draft.queue(), draft.key(), draft.idempotency().key()));
    }
  }

  @Override
  public Script reader() {
    return Script.READ_TO_SUBMIT;
  }

  @Override
  public List<SubmitResult> apply(TaskOperations operations, List<Draft> drafts, long nowMicros) {
    return operations.submit(drafts, nowMicros);
  }

  @Override
  public Hot<Draft, SubmitResult> hot() {
    return this;
  }

  @Override
  public Script script() {
    return Script.SUBMIT;
  }

  @Override
  public boolean isUsual(Draft draft) {
    return draft.idempotency() == null && draft.expectedGeneration() == Draft.ANY && Terms.isExact(draft.due());
  }

  @Override
  public Object name(Draft draft) {
    return draft.key() == null ? draft.id() : draft.queue() + '\0' + draft.key();
  }

  @Override
  public int bytes(Draft draft) {
    return draft.body() == null ? 0 : draft.body().payload().length;
  }

  @Override
  public void arguments(List<Draft> drafts, List<byte[]> to) {
    for (Draft draft : drafts) {
      boolean full = draft.body() != null && RecordCodec.hasBody(draft.body());
      Bytes numbers = new Bytes(39).u64(draft.id().high()).u64(draft.id().low());
      Terms.due(draft.due(), numbers).u64(terms.maxWait(draft.queue())).u32(draft.maxAttempts());
      // body: 0 keeps the body of an existing task, 1 deletes it, 2 replaces it
      to.add(numbers.u8(code(draft.onConflict())).u8(draft.body() == null ? 0 : full ? 2 : 1).toArray());
      to.add(draft.key() == null ? NOTHING : RecordCodec.field(draft.queue(), draft.key()));
      to.add(RecordCodec.tail(draft.id(), draft.queue(), draft.key()));
      to.add(draft.body() != null && full ? RecordCodec.encode(draft.id(), draft.key(), draft.body()) : NOTHING);
    }
  }

  /** Returns the number of the rule in submit.lua. */
  private static int code(OnConflict onConflict) {
    return switch (onConflict) {
      case RESET -> 0;
      case KEEP -> 1;
      case REJECT -> 2;
    };
  }

  @Override
  public void answers(List<Object> reply, List<Draft> drafts, List<@Nullable SubmitResult> to) {
    BytesReader in = new BytesReader((byte[]) reply.getFirst());
    for (int i = 0; i < drafts.size(); i++) {
      int kind = in.u8();
      if (kind == NOT_PLAIN) {
        to.add(null);
      } else {
        int state = in.u8();
        boolean indexed = in.u8() == 1;
        long generation = in.u64();
        long dueAt = in.u64();
        to.add(
            new SubmitResult(EnumCodes.submitKind(kind), in.id(), generation, dueAt, EnumCodes.state(state), indexed));
      }
    }
  }
}
