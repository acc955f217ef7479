package io.foliot.bench.store;

import io.foliot.api.Due;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Meter;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Foliot with tasks that have no keys. Finished tasks are kept for the retention of the queue. */
final class FoliotBacklog implements Backlog {
  private final TaskStore store;
  private final QueueConfig queue;
  private final LongAdder finished = new LongAdder();
  private @Nullable FoliotNode node;
  private int tasks;

  FoliotBacklog(TaskStore store, Duration retained) {
    this.store = store;
    queue = QueueConfig.builder(FoliotNode.QUEUE, Target.local()).retainFinished(retained)
        .retainFailed(Duration.ofDays(14))
        .build();
  }

  @Override
  public void fill(int newTasks) {
    tasks = newTasks;
    FoliotNode.fill(store, queue, tasks, number -> Due.NOW);
  }

  @Override
  public void start(Ledger ledger) {
    // settled is called when the store has reported that the end is durable.
    Meter meter = new Meter() {
      @Override
      public void settled(String name, String outcome, long durationMicros) {
        if (outcome.equals("finished")) {
          finished.increment();
        }
      }
    };
    node = new FoliotNode(store, queue, attempt -> {
      ledger.begun(FoliotNode.number(attempt.task().body()));
      return new Answer.Done("");
    }, meter);
  }

  @Override
  public boolean isDone() {
    return finished.sum() >= tasks;
  }

  @Override
  public void ensureDone(int drained) {
    FoliotNode.ensureCounts(store, "no task may be live after the drain", counts -> counts.live() == 0);
  }

  /** Stops the engine and leaves the store open. */
  void stop() {
    if (node != null) {
      node.close();
    }
  }

  @Override
  public void close() {
    stop();
    store.close();
  }
}
