package io.foliot.jobs;

import static java.util.Objects.requireNonNull;

import io.foliot.core.Stages;
import io.foliot.core.TaskId;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Reads ends of shards for many passes with one call of the store. Thread-safe; no method blocks.
 *
 * <ol>
 * <li>A read is sent at once if fewer than two calls are under way, else it waits.
 * <li>When a call has completed, the reads that wait are sent in one call, which has up to {@value #MAX_IDS} shards.
 * <li>If a call fails, all its reads fail. If the records of some shards cannot be read, only the reads of these shards
 * fail.
 * </ol>
 *
 * <p>So a single pass does not wait, and the passes over jobs with the same scheduled time share calls. Before passes
 * shared calls, these reads were half of PostgreSQL's work for 50,000 firings.
 */
final class ShardReads {
  /** Maximum number of calls under way at the same time. */
  private static final int UNDER_WAY = 2;
  /** Maximum number of shards of a call, unless its first read has more. */
  private static final int MAX_IDS = 1_000;

  private final TaskStore store;

  // guarded by this
  private final Deque<Read> waiting = new ArrayDeque<>();
  private int underWay;

  private record Read(List<TaskId> shards, CompletableFuture<Map<TaskId, ShardEnd>> ends) {}

  ShardReads(TaskStore store) {
    this.store = store;
  }

  /** Returns the state of each of these shards, by id. Shards that are absent or have not ended are included. */
  CompletionStage<Map<TaskId, ShardEnd>> read(List<TaskId> shards) {
    if (shards.isEmpty()) {
      return CompletableFuture.completedFuture(Map.of());
    }
    Read read = new Read(shards, new CompletableFuture<>());
    synchronized (this) {
      waiting.add(read);
    }
    send();
    return read.ends();
  }

  private void send() {
    for (List<Read> reads = next(); !reads.isEmpty(); reads = next()) {
      List<Read> sent = reads;
      List<TaskId> ids = reads.size() == 1
          ? reads.getFirst().shards()
          : reads.stream().flatMap(read -> read.shards().stream()).toList();
      Stages.call(() -> ShardEnd.read(store, ids)).whenComplete((ends, failure) -> {
        synchronized (this) {
          underWay--;
        }
        send();
        for (Read read : sent) {
          complete(read, ends, failure);
        }
      });
    }
  }

  private static void complete(Read read, @Nullable Map<TaskId, ShardEnd> all, @Nullable Throwable failure) {
    if (all == null) {
      read.ends().completeExceptionally(requireNonNull(failure));
      return;
    }
    TaskId unread = read.shards().stream().filter(shard -> !all.containsKey(shard)).findFirst().orElse(null);
    if (unread == null) {
      read.ends().complete(of(read, all));
    } else {
      read.ends().completeExceptionally(new UnreadShardException(unread));
    }
  }

  /** Thrown for a read of a shard whose record this version cannot read. */
  static final class UnreadShardException extends StoreException {
    private static final long serialVersionUID = 1;

    UnreadShardException(TaskId shard) {
      super("the record of a shard cannot be read, and its end is not known; the log names the reason: shard=" + shard,
          null);
    }
  }

  /**
   * Returns the ends of the shards of one read. A pass counts the ends that it gets, so the result has no ends of other
   * reads.
   */
  private static Map<TaskId, ShardEnd> of(Read read, Map<TaskId, ShardEnd> all) {
    Map<TaskId, ShardEnd> ends = new HashMap<>();
    for (TaskId shard : read.shards()) {
      ends.put(shard, requireNonNull(all.get(shard)));
    }
    return ends;
  }

  /** Returns the reads of the next call, or none if no call may be sent now. */
  private synchronized List<Read> next() {
    List<Read> reads = new ArrayList<>();
    if (underWay == UNDER_WAY || waiting.isEmpty()) {
      return reads;
    }
    underWay++;
    int ids = 0;
    while (!waiting.isEmpty() && (ids == 0 || ids + waiting.getFirst().shards().size() <= MAX_IDS)) {
      ids += waiting.getFirst().shards().size();
      reads.add(waiting.remove());
    }
    return reads;
  }
}
