package io.foliot.jobs;

import static java.util.Objects.requireNonNull;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.Stages;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The writes of the tasks of jobs by callers. Each is a compare-and-set on the task as it was read. If the passes of a
 * job leave no pause for that, the task is claimed, so that no pass runs meanwhile. Thread-safe; no method blocks.
 */
final class JobWrites {
  /** Lease of a change that claims a job; that of a pass is as long. */
  private static final long LEASE_MILLIS = 5_000;

  private final TaskStore store;
  private final JobHost host;

  JobWrites(TaskStore store, JobHost host) {
    this.store = store;
    this.host = host;
  }

  /** Returns the result that makes {@link Repeats} try again. */
  static <T> CompletionStage<Optional<T>> busy() {
    return CompletableFuture.completedFuture(Optional.empty());
  }

  /**
   * Applies a change to the task of a job: as it was read while no attempt of it runs, else as this process claims it.
   * Returns empty if the job runs and is not or cannot be claimed. The change decides again whether it may reach the
   * job, because the task that was claimed may differ from the one that was read.
   */
  <T> CompletionStage<Optional<T>> held(TaskRecord task, boolean claims,
      Function<TaskRecord, CompletionStage<Optional<T>>> change) {
    if (task.state() != TaskState.RUNNING) {
      return change.apply(task);
    }
    return !claims
        ? busy()
        : store.claim(List.of(new Claim(task.id(), LEASE_MILLIS))).thenCompose(
            batch -> batch.results().getFirst() instanceof ClaimResult.Won won
                ? released(won.task(), Stages.call(() -> change.apply(won.task())))
                : busy());
  }

  /**
   * Ends the claim of a change that was refused or changed nothing. If the change was written, the claim has ended, and
   * this settlement has no effect. If this settlement fails, the job is planned again once the lease has ended.
   */
  private <T> CompletionStage<T> released(TaskRecord claimed, CompletionStage<T> change) {
    CompletableFuture<T> result = new CompletableFuture<>();
    var unused = change.whenComplete((changed, failure) -> settled(claimed, null).whenComplete((settled, unsettled) -> {
      if (failure != null) {
        result.completeExceptionally(failure);
      } else {
        result.complete(changed);
      }
    }));
    return result;
  }

  /** Ends the claim of a change. Returns whether this settlement took effect. */
  private CompletionStage<Boolean> settled(TaskRecord claimed, @Nullable Body next) {
    return Stages.call(() -> store.settle(List.of(new AttemptEnd(claimed.id(), claimed.generation(),
        requireNonNull(claimed.token()), new Outcome.Rearm(Due.NOW, next, List.of()), claimed.claimedAt(), ""))))
        .thenApply(results -> results.getFirst().kind() == SettleResult.Kind.SETTLED);
  }

  /** Returns the time of a change: the time of its claim, or the time that was read. */
  static long now(TaskRecord task, long read) {
    return task.state() == TaskState.RUNNING ? task.claimedAt() : read;
  }

  /**
   * Writes the payload of a job's task, to be planned at once. Returns false if the job has changed meanwhile.
   *
   * @param before the task as it was read or claimed
   */
  CompletionStage<Boolean> written(String name, Body body, TaskRecord before) {
    return before.state() == TaskState.RUNNING
        ? settled(before, body)
        : written(name, body, Due.NOW, before.generation(), before.id());
  }

  CompletionStage<Boolean> written(String name, Body body, Due due, long expectedGeneration, TaskId id) {
    Draft draft = new Draft(id, Shards.JOBS, name, due, body, 0, OnConflict.REJECT, null)
        .expecting(expectedGeneration);
    return host.write(List.of(draft)).thenApply(results -> results.getFirst().kind().isPlaced());
  }
}
