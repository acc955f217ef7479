package io.foliot.store.redis;

import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.BatchStep;
import io.foliot.core.store.batch.Reads;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.UnreadableException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The step that claims tasks. A claim takes the general path if its lease is too long for the script, if it finds an
 * ended lease, or if the record cannot be read. The fast path handles all other claims.
 */
final class ClaimStep
    implements
      RedisOperation<Claim, ClaimStep.TimedResult>,
      RedisOperation.Hot<Claim, ClaimStep.TimedResult>,
      BatchStep<Claim, ClaimStep.TimedResult> {
  // answers of claim.lua; any other byte means that the claim needs the general path
  private static final int GONE = 0;
  private static final int LATER = 1;
  private static final int WON = 2;
  private static final int READY = 3;
  /**
   * Delay before this node tries again to claim a task that only a newer version can read. A node of that version
   * may have claimed the task by then.
   */
  private static final long NEWER_VERSION_MILLIS = 10_000;

  /** A result, and the time of the decision by the clock of the task's part, in milliseconds since 1970. */
  record TimedResult(long nowMillis, ClaimResult result) {}

  /** Returns this failure of a batch of claims. If the failure contains results, removes the times from them. */
  static RuntimeException untimed(RuntimeException failure) {
    return failure instanceof ItemsFailedException partly
        ? ItemsFailedException.of(
            partly.results().stream().map(result -> result instanceof TimedResult timed ? timed.result() : null)
                .toList(),
            partly.failure())
        : failure;
  }

  private final Supplier<Token> tokens;
  private final Recent<TaskId, String> queues;

  ClaimStep(Supplier<Token> tokens, Recent<TaskId, String> queues) {
    this.tokens = tokens;
    this.queues = queues;
  }

  @Override
  public int hash16(Claim claim) {
    return claim.id().hash16();
  }

  @Override
  public BatchStep<Claim, TimedResult> general() {
    return this;
  }

  @Override
  public void wants(Claim claim, Reads reads) {
    reads.id(claim.id());
  }

  @Override
  public boolean withBodies() {
    return true;
  }

  @Override
  public List<TimedResult> apply(TaskOperations operations, List<Claim> claims, long nowMicros) {
    ClaimBatch batch = operations.claim(claims, nowMicros);
    return batch.results().stream().map(result -> new TimedResult(batch.nowMillis(), result)).toList();
  }

  @Override
  public TimedResult ofNewerVersion(Claim claim, long nowMicros) {
    long nowMillis = Math.floorDiv(nowMicros, 1_000);
    return new TimedResult(nowMillis, new ClaimResult.Later(nowMillis + NEWER_VERSION_MILLIS));
  }

  @Override
  public Hot<Claim, TimedResult> hot() {
    return this;
  }

  @Override
  public Script script() {
    return Script.CLAIM;
  }

  @Override
  public boolean isUsual(Claim claim) {
    return Terms.isExact(claim.leaseMillis());
  }

  @Override
  public Object name(Claim claim) {
    return claim.id();
  }

  @Override
  public void arguments(List<Claim> claims, List<byte[]> to) {
    Bytes numbers = new Bytes(32 * claims.size());
    int at = to.size();
    for (Claim claim : claims) {
      Token token = tokens.get();
      numbers.u64(claim.leaseMillis()).u64(notAfter(claim)).u64(token.high()).u64(token.low());
      to.add(RecordCodec.id(claim.id()));
    }
    to.add(at, numbers.toArray());
  }

  /**
   * Returns the latest time at which the claim may win, in milliseconds since 1970. The result is -1 for a move, which
   * never wins. A time that the script cannot represent exactly is treated as unlimited.
   */
  private static long notAfter(Claim claim) {
    return claim.leaseMillis() == 0 ? -1 : Math.min(claim.notAfterMillis(), Terms.EXACT);
  }

  @Override
  public void answers(List<Object> reply, List<Claim> claims, List<@Nullable TimedResult> to) {
    long nowMillis = (Long) reply.getFirst();
    BytesReader in = new BytesReader((byte[]) reply.get(1));
    List<?> won = (List<?>) reply.get(2);
    int next = 0;
    for (Claim claim : claims) {
      switch (in.u8()) {
        case GONE -> to.add(new TimedResult(nowMillis, ClaimResult.Gone.ABSENT));
        case LATER -> to.add(new TimedResult(nowMillis, new ClaimResult.Later(in.u64())));
        case WON -> {
          ClaimResult result = won(claim, (byte[]) won.get(next), (byte[]) won.get(next + 1));
          to.add(result == null ? null : new TimedResult(nowMillis, result));
          next += 2;
        }
        case READY -> to.add(new TimedResult(nowMillis, ClaimResult.Ready.READY));
        default -> to.add(null);
      }
    }
  }

  /** Returns the result, or null if the record cannot be read. The general path then sets the task aside. */
  private @Nullable ClaimResult won(Claim claim, byte[] value, byte @Nullable [] body) {
    try {
      TaskRecord task = RecordCodec.decode(claim.id(), value, body, null);
      if (!RecordCodec.isWhole(task)) {
        return null;
      }
      queues.remember(task.id(), task.queue());
      return new ClaimResult.Won(task);
    } catch (UnreadableException e) {
      return null;
    }
  }
}
