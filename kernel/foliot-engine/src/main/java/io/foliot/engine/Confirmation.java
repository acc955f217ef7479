package io.foliot.engine;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Decides whether the tasks that a call has written may be acknowledged. They may, unless their queues were deleted or
 * the store has lost the tasks meanwhile. Not thread-safe: each call has its own instance.
 *
 * <p>Guarantees: an acknowledged task has a queue, or the deletion of its queue fails because of the task. If the store
 * may lose its latest writes, it still had the task when the task was acknowledged.
 *
 * <ol>
 * <li>Each task that the call wrote is {@linkplain #add added}, and also each earlier task that a result names. For
 * most tasks, the latest read of the {@link QueueWatch} has shown that the task's queue is not being deleted.
 * <li>For the others, {@link #await} waits for the next read of the queues. The wait fails if a queue is gone.
 * <li>A store that may lose its latest writes may have lost tasks during the wait. In such a store, all tasks that have
 * waited are read once more.
 * </ol>
 */
final class Confirmation {
  private final TaskStore store;
  private final QueueWatch watch;
  private final Set<String> doubtful = new TreeSet<>();
  /** All tasks that were added: one doubtful task makes the whole call wait. */
  private final List<Written> written = new ArrayList<>();

  private record Written(TaskId id, long generation) {}

  Confirmation(TaskStore store, QueueWatch watch) {
    this.store = store;
    this.watch = watch;
  }

  /** Adds a task that this call or an earlier call wrote. */
  void add(String queue, TaskId id, long generation) {
    written.add(new Written(id, generation));
    if (!watch.isConfirmed(queue, generation)) {
      doubtful.add(queue);
    }
  }

  /**
   * Returns a stage that completes with these results once the tasks are confirmed. The stage fails if a task or its
   * queue is gone.
   */
  <T> CompletionStage<T> await(T results) {
    return doubtful.isEmpty()
        ? CompletableFuture.completedFuture(results)
        : watch.confirm(doubtful).thenCompose(done -> ensureKept()).thenApply(done -> results);
  }

  private CompletionStage<Void> ensureKept() {
    CompletionStage<Void> kept = CompletableFuture.completedFuture(null);
    if (store.durability().windowMillis() == 0) {
      return kept;
    }
    Map<TaskId, Long> newest = new HashMap<>();
    written.forEach(each -> newest.merge(each.id(), each.generation(), Math::max));
    for (Map.Entry<TaskId, Long> each : newest.entrySet()) {
      CompletionStage<Optional<TaskRecord>> found = store.find(new TaskRef.ById(each.getKey()))
          .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
              new StoreException("the task was written, but cannot be read back; the store may have lost it",
                  failure)));
      kept = kept.thenCombine(found, (done, task) -> {
        if (task.filter(record -> hasReached(record, each.getValue())).isEmpty()) {
          throw new StoreException("the store does not have the task any more: task=" + each.getKey(), null);
        }
        return null;
      });
    }
    return kept;
  }

  private static boolean hasReached(TaskRecord task, long generation) {
    TaskRecord.Successor successor = task.successor();
    return task.generation() >= generation || (successor != null && successor.generation() >= generation);
  }
}
