package io.foliot.jobs;

import io.foliot.core.TaskId;
import io.foliot.core.TaskState;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A shard as its record shows it.
 *
 * @param state whether it has ended, and how
 * @param at when it ended, in milliseconds since 1970 by the store's clock; 0 if it has not ended or the time is not
 *     known
 */
record ShardEnd(State state, long at) {
  /** The states that planning distinguishes. */
  enum State {
    /** It waits or runs. */
    LIVE,
    /** It succeeded. */
    SUCCEEDED,
    /** It failed for good, or was cancelled. */
    FAILED,
    /** The store does not know it: if it was inserted, it has ended and was forgotten. */
    ABSENT
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
      return new ShardEnd(State.LIVE, 0);
    }
    return new ShardEnd(task.state() == TaskState.FINISHED ? State.SUCCEEDED : State.FAILED, task.changedAt());
  }
}
