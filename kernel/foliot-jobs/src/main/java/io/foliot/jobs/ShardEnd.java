package io.foliot.jobs;

import io.foliot.core.TaskId;
import io.foliot.core.TaskNote;
import io.foliot.core.TaskState;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The state of a shard, as its record shows it.
 *
 * @param state whether it has ended, and how
 * @param at when it ended, in milliseconds since 1970 by the store's clock; for a running shard, when its lease ends;
 *     else 0
 * @param mark the request of its handler to the job, if it succeeded
 * @param checkpoint its last checkpoint, if it requests another run, or null
 */
record ShardEnd(State state, long at, TaskNote.Mark mark, @Nullable String checkpoint) {
  /** The states that planning distinguishes. */
  enum State {
    /** It waits. */
    LIVE,
    /** It was claimed, and has not ended. */
    RUNNING,
    /** It succeeded. */
    SUCCEEDED,
    /** It failed permanently, or was cancelled. */
    FAILED,
    /** It was cancelled before its first attempt. */
    NOT_BEGUN,
    /** The store does not know it: if it was inserted, it has ended and was forgotten. */
    ABSENT
  }

  ShardEnd(State state, long at) {
    this(state, at, TaskNote.Mark.NONE, null);
  }

  boolean isLive() {
    return state == State.LIVE || state == State.RUNNING;
  }

  /** Reads shards from a store, in one call. */
  static CompletionStage<Map<TaskId, ShardEnd>> read(TaskStore store, List<TaskId> shards) {
    if (shards.isEmpty()) {
      return CompletableFuture.completedFuture(Map.of());
    }
    return store.find(shards).thenApply(found -> {
      Map<TaskId, ShardEnd> ends = new HashMap<>();
      for (int i = 0; i < shards.size(); i++) {
        ends.put(shards.get(i), of(found.get(i)));
      }
      return ends;
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
          : new ShardEnd(State.LIVE, 0);
    }
    if (task.state() == TaskState.FINISHED) {
      TaskNote note = task.note();
      return new ShardEnd(State.SUCCEEDED, task.changedAt(), note.mark(),
          note.mark() == TaskNote.Mark.RUN_AGAIN ? note.checkpoint() : null);
    }
    boolean isBegun = task.state() != TaskState.CANCELLED || task.attempt() > 0;
    return new ShardEnd(isBegun ? State.FAILED : State.NOT_BEGUN, task.changedAt());
  }
}
