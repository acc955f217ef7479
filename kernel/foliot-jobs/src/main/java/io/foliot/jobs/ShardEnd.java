package io.foliot.jobs;

import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The state of a shard, as its record shows it.
 *
 * @param state whether the shard has ended, and how
 * @param at when the shard ended, in milliseconds since 1970 by the store's clock; for a running shard, when its lease
 *     ends; for a shard that waits, when its record was written; else 0
 * @param mark the request of the shard's handler to the job; {@link TaskNote.Mark#NONE} unless the shard succeeded
 * @param checkpoint the last checkpoint of a shard that requests another run, or null
 * @param reason why the shard failed or was cancelled; empty if it did not, or if its record has no reason
 * @param queue the queue of the shard; empty unless it failed or was cancelled
 */
record ShardEnd(State state, long at, TaskNote.Mark mark, @Nullable String checkpoint, String reason, String queue) {
  /** The states that planning distinguishes. */
  enum State {
    /** The shard waits for an attempt. */
    LIVE,
    /** The shard was claimed, and has not ended. */
    RUNNING,
    /** The shard succeeded. */
    SUCCEEDED,
    /** The shard failed permanently, or was cancelled after an attempt. */
    FAILED,
    /** The shard was cancelled before its first attempt. */
    NOT_BEGUN,
    /** The store has no record of the shard: if it was inserted, it has ended and its record was deleted. */
    ABSENT
  }

  ShardEnd(State state, long at) {
    this(state, at, "", "");
  }

  ShardEnd(State state, long at, String reason, String queue) {
    this(state, at, TaskNote.Mark.NONE, null, reason, queue);
  }

  ShardEnd(State state, long at, TaskNote.Mark mark, @Nullable String checkpoint) {
    this(state, at, mark, checkpoint, "", "");
  }

  /** Returns whether the shard has not ended: whether it is LIVE or RUNNING. */
  boolean isLive() {
    return state == State.LIVE || state == State.RUNNING;
  }

  /**
   * Reads shards from a store, in one call. The result has an entry for each shard, also for an absent shard, but not
   * for a shard whose record cannot be read.
   */
  static CompletionStage<Map<TaskId, ShardEnd>> read(TaskStore store, List<TaskId> shards) {
    if (shards.isEmpty()) {
      return CompletableFuture.completedFuture(Map.of());
    }
    return tasks(store, shards).thenApply(found -> {
      Map<TaskId, ShardEnd> ends = new HashMap<>();
      for (int i = 0; i < shards.size(); i++) {
        Optional<TaskRecord> task = found.get(i);
        if (task != null) {
          ends.put(shards.get(i), of(task));
        }
      }
      return ends;
    });
  }

  /** Reads tasks in the order of the ids. The result has null for a task whose record cannot be read. */
  @SuppressWarnings("unchecked") // the results are those of the call
  static CompletionStage<List<@Nullable Optional<TaskRecord>>> tasks(TaskStore store, List<TaskId> ids) {
    return store.find(ids).handle((found, failure) -> {
      Throwable reason = failure instanceof CompletionException && failure.getCause() != null
          ? failure.getCause()
          : failure;
      if (reason == null) {
        return (List<@Nullable Optional<TaskRecord>>) (List<?>) found;
      }
      if (reason instanceof ItemsFailedException partly) {
        return (List<@Nullable Optional<TaskRecord>>) (List<?>) partly.results();
      }
      throw reason instanceof RuntimeException known ? known : new CompletionException(reason);
    });
  }

  private static ShardEnd of(Optional<TaskRecord> found) {
    if (found.isEmpty()) {
      return new ShardEnd(State.ABSENT, 0);
    }
    TaskRecord task = found.get();
    if (task.isLive()) {
      return task.state() == TaskState.RUNNING
          ? new ShardEnd(State.RUNNING, task.leaseEnd())
          : new ShardEnd(State.LIVE, task.changedAt());
    }
    if (task.state() == TaskState.FINISHED) {
      TaskNote note = task.note();
      return new ShardEnd(State.SUCCEEDED, task.changedAt(), note.mark(),
          note.mark() == TaskNote.Mark.RUN_AGAIN ? note.checkpoint() : null);
    }
    boolean isBegun = task.state() != TaskState.CANCELLED || task.attempt() > 0;
    return new ShardEnd(isBegun ? State.FAILED : State.NOT_BEGUN, task.changedAt(), task.reason(), task.queue());
  }
}
