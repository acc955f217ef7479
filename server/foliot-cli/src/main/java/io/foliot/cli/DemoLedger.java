package io.foliot.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** Records and compares the tasks that the server acknowledged and the callbacks that arrived. Thread-safe. */
final class DemoLedger {
  // guarded by this
  private final Set<String> acknowledged = new HashSet<>();
  private final Map<String, List<DemoReceiver.Callback>> callbacks = new HashMap<>();

  synchronized void recordAcknowledged(String task) {
    acknowledged.add(task);
    notifyAll();
  }

  synchronized void recordCallback(DemoReceiver.Callback callback) {
    callbacks.computeIfAbsent(callback.task(), task -> new ArrayList<>()).add(callback);
    notifyAll();
  }

  synchronized int acknowledged() {
    return acknowledged.size();
  }

  /** Returns the number of acknowledged tasks whose callback has arrived. */
  synchronized int delivered() {
    Set<String> both = new HashSet<>(acknowledged);
    both.retainAll(callbacks.keySet());
    return both.size();
  }

  synchronized int pending() {
    return acknowledged() - delivered();
  }

  /** Returns the number of repeated callbacks: all but the first one of each task. */
  synchronized int repeated() {
    return callbacks.values().stream().mapToInt(all -> all.size() - 1).sum();
  }

  /** Returns the number of callbacks that came before their tasks were due. */
  synchronized int early() {
    return (int) callbacks.values().stream().flatMap(List::stream).filter(callback -> callback.late().isNegative())
        .count();
  }

  /**
   * Waits until a task has enough callbacks, the patience has passed, or the thread is interrupted. Returns the number
   * of callbacks that have arrived.
   */
  synchronized int await(String task, int callbacksWanted, Duration patience) {
    long end = System.nanoTime() + patience.toNanos();
    try {
      while (count(task) < callbacksWanted) {
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          break;
        }
        wait(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return count(task);
  }

  private int count(String task) {
    return callbacks.getOrDefault(task, List.of()).size();
  }

  /**
   * Returns the lateness of each task's first callback in microseconds; 0 for an early one. Omits the tasks that were
   * due while the server was down: from {@code downFrom} to {@code downTo}, both inclusive.
   */
  synchronized Histogram latenessMicros(Instant downFrom, Instant downTo) {
    Histogram micros = new Histogram(3);
    callbacks.values().stream().map(List::getFirst)
        .filter(callback -> callback.dueAt().isBefore(downFrom) || callback.dueAt().isAfter(downTo))
        .forEach(callback -> micros.recordValue(Math.max(0, callback.late().toNanos() / 1_000)));
    return micros;
  }
}
