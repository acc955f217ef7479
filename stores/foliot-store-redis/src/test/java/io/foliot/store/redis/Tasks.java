package io.foliot.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Calls of a store for tests. Most calls have one item. */
final class Tasks {
  static final String QUEUE = "orders";
  static final long HOUR = 3_600_000;
  private static final long ANSWER_SECONDS = 60;

  private Tasks() {}

  static Draft draft(String key, long delayMillis) {
    return new Draft(
        TaskId.of(System.currentTimeMillis(), SlotHash.of(QUEUE, key), ThreadLocalRandom.current().nextLong()), QUEUE,
        key, Due.after(delayMillis), Body.json("\"" + key + "\""), 0, OnConflict.RESET, null);
  }

  static TaskRef.ByKey key(String key) {
    return new TaskRef.ByKey(QUEUE, key);
  }

  static SubmitResult submit(TaskStore store, String key, long delayMillis) {
    return get(store.submit(List.of(draft(key, delayMillis)))).getFirst();
  }

  /** Claims a task for an hour, and returns its record. */
  static TaskRecord won(TaskStore store, TaskId id) {
    ClaimResult result = get(store.claim(List.of(new Claim(id, HOUR)))).results().getFirst();
    assertThat(result).isInstanceOf(ClaimResult.Won.class);
    return ((ClaimResult.Won) result).task();
  }

  /** Returns the settlement by which an attempt succeeds. */
  static AttemptEnd finished(TaskRecord task) {
    return new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()), new Outcome.Finished(),
        task.claimedAt(), "");
  }

  static SettleResult.Kind finish(TaskStore store, TaskRecord task) {
    return get(store.settle(List.of(finished(task)))).getFirst().kind();
  }

  static <T> T get(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError("the call failed: " + e.getCause(), e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("no answer: seconds=" + ANSWER_SECONDS, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  /** Returns the StoreException of a failed call, or null if the call succeeded. */
  static @Nullable StoreException failure(CompletionStage<?> stage) {
    try {
      Object done = stage.toCompletableFuture().get(ANSWER_SECONDS, TimeUnit.SECONDS);
      assert done != null;
      return null;
    } catch (ExecutionException e) {
      assertThat(e.getCause()).isInstanceOf(StoreException.class);
      return (StoreException) e.getCause();
    } catch (TimeoutException | InterruptedException e) {
      throw new AssertionError("no answer: seconds=" + ANSWER_SECONDS, e);
    }
  }

  /** Waits until a condition holds. Fails if it does not hold within {@code bound}. */
  static void eventually(String what, Duration bound, BooleanSupplier condition) {
    long end = System.nanoTime() + bound.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("%s within %s", what, bound).isNegative();
      LockSupport.parkNanos(10_000_000);
    }
  }
}
