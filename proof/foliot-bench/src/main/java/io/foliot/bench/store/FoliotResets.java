package io.foliot.bench.store;

import io.foliot.core.Submission;
import io.foliot.core.TaskRef;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.TouchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** Calls of Foliot's {@code touch} for live keys. */
final class FoliotResets implements CallLoad {
  private static final Duration LATER = Duration.ofDays(1);
  private static final Duration RESET = Duration.ofDays(2);
  /** A delay between {@link #LATER} and {@link #RESET}, to distinguish them. */
  private static final Duration BETWEEN = Duration.ofHours(36);
  private static final int CREATED_AT_ONCE = 1_000;
  /** Distance between two checked keys, as a number of keys. */
  private static final int SAMPLE_EVERY = 97;

  private final TaskStore store;
  private final FoliotNode node;
  private final LiveKeys live;
  private final List<String> keys = new ArrayList<>();
  private final int batch;

  FoliotResets(TaskStore store, int callers, int live, int batch) {
    this.store = store;
    this.batch = batch;
    this.live = new LiveKeys(live, callers, batch);
    for (int key = 0; key < this.live.count(); key++) {
      keys.add("device-" + key);
    }
    node = FoliotNode.withoutHandlers(store);
    for (int first = 0; first < keys.size(); first += CREATED_AT_ONCE) {
      List<Submission> part = new ArrayList<>();
      for (int key = first; key < Math.min(first + CREATED_AT_ONCE, keys.size()); key++) {
        part.add(
            Submission.builder(FoliotNode.QUEUE).delay(LATER).body(FoliotNode.body(key)).key(keys.get(key)).build());
      }
      FoliotNode.await(node.scheduler().submitAll(part));
    }
  }

  @Override
  public int call(int caller, int turn) {
    int first = live.first(caller, turn);
    for (TouchResult result : FoliotNode
        .await(node.scheduler().touch(FoliotNode.QUEUE, keys.subList(first, first + batch), RESET))) {
      if (result.kind() != TouchResult.Kind.RESET) {
        throw new IllegalStateException("the reset of a live key must succeed: result=" + result);
      }
    }
    return batch;
  }

  @Override
  public void ensureDone(long items) {
    BitSet touched = live.touched();
    long between = System.currentTimeMillis() + BETWEEN.toMillis();
    for (int key = 0; key < keys.size(); key += SAMPLE_EVERY) {
      TaskRecord task = FoliotNode.await(store.find(new TaskRef.ByKey(FoliotNode.QUEUE, keys.get(key)))).orElseThrow();
      if (task.dueAt() > between != touched.get(key)) {
        throw new IllegalStateException(
            "exactly the keys that were reset must be due later: reset=" + touched.get(key) + ", task=" + task);
      }
    }
    FoliotNode.ensureCounts(store, "every key must still be live", counts -> counts.delayed() == keys.size());
  }

  @Override
  public void close() {
    node.close();
    store.close();
  }
}
