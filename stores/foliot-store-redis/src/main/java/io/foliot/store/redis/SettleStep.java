package io.foliot.store.redis;

import io.foliot.api.Due;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.batch.BatchStep;
import io.foliot.core.store.batch.BatchSteps;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.EnumCodes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The step that settles attempts. The fast path handles a settlement only if all of these conditions hold:
 *
 * <ul>
 * <li>The outcome is a success or a retry, and there is no note.
 * <li>The task has neither a successor nor a request to cancel it, and its record has room for another attempt.
 * <li>This node knows the queue of the task.
 * <li>A script can compute exactly with the numbers.
 * </ul>
 */
final class SettleStep
    implements
      RedisOperation<AttemptEnd, SettleResult>,
      RedisOperation.Hot<AttemptEnd, SettleResult> {
  /**
   * Answer of the script for an item that needs the general path. This node also passes this value to the script as an
   * outcome, if the script cannot compute exactly with the retention; the script then returns the value.
   */
  private static final int NOT_PLAIN = 9;
  // outcomes of settle.lua
  private static final int FINISHED = 0;
  private static final int RETRIED = 1;
  /** Bytes of the numbers of one item. settle.lua lists them. */
  private static final int NUMBERS = 50;

  private final Terms terms;
  private final Recent<TaskId, String> queues;

  SettleStep(Terms terms, Recent<TaskId, String> queues) {
    this.terms = terms;
    this.queues = queues;
  }

  @Override
  public int hash16(AttemptEnd settlement) {
    return settlement.id().hash16();
  }

  @Override
  public BatchStep<AttemptEnd, SettleResult> general() {
    return BatchSteps.SETTLE;
  }

  @Override
  public Hot<AttemptEnd, SettleResult> hot() {
    return this;
  }

  @Override
  public Script script() {
    return Script.SETTLE;
  }

  @Override
  public boolean isUsual(AttemptEnd settlement) {
    boolean usual = switch (settlement.outcome()) {
      case Outcome.Finished finished -> true;
      case Outcome.Retry retry -> Terms.isExact(retry.due());
      case Outcome.Failed failed -> false;
      case Outcome.Rearm rearm -> false;
      case Outcome.NotBegun notBegun -> false;
    };
    return usual && settlement.note().isEmpty() && Terms.isExact(settlement.generation())
        && queues.of(settlement.id()) != null;
  }

  @Override
  public Object name(AttemptEnd settlement) {
    return settlement.id();
  }

  @Override
  public void arguments(List<AttemptEnd> settlements, List<byte[]> to) {
    Bytes numbers = new Bytes(NUMBERS * settlements.size());
    int at = to.size();
    for (AttemptEnd settlement : settlements) {
      String queue = queues.of(settlement.id());
      long keptMillis = queue == null ? Long.MAX_VALUE : terms.of(queue).retainFinishedMillis();
      Outcome.Retry retry = settlement.outcome() instanceof Outcome.Retry found ? found : null;
      numbers.u64(settlement.generation()).u64(settlement.token().high()).u64(settlement.token().low());
      numbers.u8(!Terms.isExact(keptMillis) ? NOT_PLAIN : retry == null ? FINISHED : RETRIED);
      Terms.due(retry == null ? Due.NOW : retry.due(), numbers).u64(settlement.begunAt()).u64(keptMillis);
      to.add(RecordCodec.id(settlement.id()));
      to.add(Layout.bytes(AttemptRecord.cut(settlement.detail())));
    }
    to.add(at, numbers.toArray());
  }

  @Override
  public void answers(List<Object> reply, List<AttemptEnd> settlements, List<@Nullable SettleResult> to) {
    BytesReader in = new BytesReader((byte[]) reply.getFirst());
    for (AttemptEnd settlement : settlements) {
      if (in.u8() == NOT_PLAIN) {
        to.add(null);
      } else {
        queues.forget(settlement.id());
        to.add(new SettleResult(SettleResult.Kind.SETTLED, EnumCodes.state(in.u8()), in.u64()));
      }
    }
  }
}
