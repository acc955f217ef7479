package io.foliot.engine;

import io.foliot.api.TaskNote;
import io.foliot.core.TaskRef;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.TaskRecord;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Wakes tasks of internal queues that wait for the end of another task ({@link Delivery#awaiting}). A hint says that
 * such an end was stored; hints are gathered before the tasks are woken. Thread-safe.
 *
 * <p>A task may wait for several others. If some of these end within a tenth of a second, the waiting task is woken
 * only once. The woken task finds every end that was stored before the wake-up. Hints are lost when the process ends.
 * While {@value #MAX} tasks wait to be woken, hints for other tasks are lost.
 *
 * <p>Rejected: a wake-up for each end. A run of ten thousand shards would be planned ten thousand times.
 */
final class EndHints {
  private static final long GATHER_NANOS = 100_000_000;
  private static final int MAX = 10_000;

  private final List<Delivery> deliveries;
  private final BiConsumer<String, List<String>> wake;

  // guarded by this
  private Map<String, Set<String>> keys = new HashMap<>();
  private int count;
  private long wakeNanos;

  /** @param wake wakes the keys of an internal queue */
  EndHints(List<Delivery> deliveries, BiConsumer<String, List<String>> wake) {
    this.deliveries = deliveries.stream().filter(delivery -> !delivery.internalQueues().isEmpty()).toList();
    this.wake = wake;
  }

  /**
   * Returns the task that waits for the end of the given task; null if no task waits. The mark is the one that the
   * handler of the given task has left.
   */
  TaskRef.@Nullable ByKey awaiting(TaskRecord task, TaskNote.Mark mark) {
    for (Delivery delivery : deliveries) {
      TaskRef.ByKey waiting = delivery.awaiting(task, mark);
      if (waiting != null) {
        return waiting;
      }
    }
    return null;
  }

  /** Adds a hint for a waiting task: an end that the task waits for is now in the store. */
  void ended(TaskRef.ByKey waiting, long nowNanos) {
    synchronized (this) {
      if (count == 0) {
        wakeNanos = nowNanos + GATHER_NANOS;
      }
      if (count < MAX && keys.computeIfAbsent(waiting.queue(), queue -> new HashSet<>()).add(waiting.key())) {
        count++;
      }
    }
  }

  /** Wakes the gathered tasks, a tenth of a second after the first hint. */
  void turn(long nowNanos) {
    Map<String, Set<String>> ready;
    synchronized (this) {
      if (count == 0 || nowNanos - wakeNanos < 0) {
        return;
      }
      ready = keys;
      keys = new HashMap<>();
      count = 0;
    }
    ready.forEach((queue, each) -> wake.accept(queue, List.copyOf(each)));
  }
}
