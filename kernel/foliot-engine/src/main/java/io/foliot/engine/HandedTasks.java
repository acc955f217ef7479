package io.foliot.engine;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.TaskRecord;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * The values that are needed to record the success of a worker's task, and the worker that holds its lease. They are
 * remembered from the claim of the task.
 * Thread-safe.
 *
 * <p>Guarantees: the remembered values were true when the task was claimed with this token. The store therefore treats
 * a settle with these values like a settle by the claiming node. A task that is not remembered costs a read.
 *
 * <p>Rejected: reading each task that is acknowledged. That would be a store call for the generation alone.
 */
final class HandedTasks {
  /** Maximum number of tasks that are remembered, some 200 bytes each. Beyond this number the oldest are forgotten. */
  private static final int MAX = 20_000;

  // guarded by this
  private final SequencedMap<Token, Handed> byToken = new LinkedHashMap<>();

  /**
   * A task that a worker has.
   *
   * @param waiting the task of an internal queue that waits for the end of this task, or null
   * @param maker the {@link io.foliot.core.store.AttemptMaker#prefix} of the worker and this node
   */
  record Handed(TaskId id, WorkerId holder, String queue, long generation, long claimedAt,
      TaskRef.@Nullable ByKey waiting, String maker) {}

  /** Remembers a task that was given to a worker. */
  void add(TaskRecord task, WorkerId holder, TaskRef.@Nullable ByKey waiting, String maker) {
    Token token = task.token();
    if (token == null) {
      throw new IllegalArgumentException("a claimed task has a token: id=" + task.id());
    }
    Handed handed = new Handed(task.id(), holder, task.queue(), task.generation(), task.claimedAt(), waiting, maker);
    synchronized (this) {
      byToken.put(token, handed);
      if (byToken.size() > MAX) {
        byToken.pollFirstEntry();
      }
    }
  }

  /** Returns the maker of the attempt of a task; empty if the task is not remembered with this id and token. */
  synchronized String maker(TaskId id, Token token) {
    Handed handed = byToken.get(token);
    return handed == null || !handed.id().equals(id) ? "" : handed.maker();
  }

  /** Returns the worker that got a task with this token; null if the task is not remembered. */
  synchronized @Nullable WorkerId holder(Token token) {
    Handed handed = byToken.get(token);
    return handed == null ? null : handed.holder();
  }

  /** Returns and forgets a task; null if it is not remembered with this id and token. */
  synchronized @Nullable Handed take(TaskId id, Token token) {
    Handed handed = byToken.remove(token);
    return handed == null || !handed.id().equals(id) ? null : handed;
  }
}
