package io.foliot.engine;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The workers that call this node. They are known by their ordinary calls, which wait for tasks or extend leases.
 * Thread-safe.
 *
 * <p>A worker that waits is regarded as alive until two seconds after the end of its wait, because it polls again at
 * once. A worker that has tasks may have no free handler, and then does not poll. Such a worker extends each lease when
 * a third of it is over, and at least every 15 s. An extension keeps the worker alive for half a lease and two seconds,
 * but for at most 30 s.
 */
final class WorkerRoster {
  /** Longest time from the end of a wait to the next poll of the same worker. */
  private static final long POLLS_AGAIN_NANOS = 2_000_000_000L;
  /** Maximum time that an extension keeps a worker alive. */
  private static final long LONGEST_GRACE_NANOS = 30_000_000_000L;
  private static final long NANOS_PER_MILLI = 1_000_000;
  /**
   * Maximum number of workers: names that callers make up must not fill the memory. The node itself may be one more
   * worker, and all of them must fit into one document.
   */
  static final int MAX_WORKERS = Vouchers.MAX_WORKERS - 1;

  /**
   * A worker.
   *
   * @param queues the worker's queues. Each has the monotonic time of its expiry: the queue is then forgotten unless
   *     the worker has called again
   * @param graceNanos how long the worker is regarded as alive after a call without a wait
   */
  private record Entry(String zone, Map<String, Long> queues, long graceNanos) {
    Entry alive(long untilNanos) {
      Map<String, Long> longer = new HashMap<>();
      queues.forEach((queue, until) -> longer.put(queue, later(until, untilNanos)));
      return new Entry(zone, longer, graceNanos);
    }
  }

  /** A worker that is alive. */
  record Present(String zone, Set<String> queues) {}

  private final Map<String, Entry> workers = new ConcurrentHashMap<>();

  /**
   * Records that a worker waits for tasks of a queue until a time of the monotonic clock. Ignores a worker without a
   * name, and a new worker or queue beyond the maximum number.
   */
  synchronized void waits(String worker, String zone, String queue, long leaseMillis, long untilNanos) {
    // Only this method adds workers, one call at a time, so their number stays within the bound.
    if (worker.isEmpty() || (workers.size() >= MAX_WORKERS && !workers.containsKey(worker))) {
      return;
    }
    long graceNanos = Math.min(LONGEST_GRACE_NANOS, leaseMillis * NANOS_PER_MILLI / 2 + POLLS_AGAIN_NANOS);
    workers.compute(worker, (name, before) -> {
      Map<String, Long> queues = new HashMap<>(before == null ? Map.of() : before.queues());
      if (queues.size() >= Vouchers.MAX_QUEUES && !queues.containsKey(queue)) {
        return before;
      }
      queues.merge(queue, untilNanos + POLLS_AGAIN_NANOS, WorkerRoster::later);
      return new Entry(zone, queues, graceNanos);
    });
  }

  /** Records that a worker has tasks, if the worker is known here. */
  void works(String worker, long nowNanos) {
    workers.computeIfPresent(worker, (name, before) -> before.alive(nowNanos + before.graceNanos()));
  }

  /** Records that a worker takes no more tasks of a queue. The tasks that it still runs do not keep it alive. */
  void leaves(String worker, String queue) {
    workers.computeIfPresent(worker, (name, before) -> {
      Map<String, Long> queues = new HashMap<>(before.queues());
      queues.remove(queue);
      return queues.isEmpty() ? null : new Entry(before.zone(), queues, before.graceNanos());
    });
  }

  private static long later(long one, long other) {
    return one - other >= 0 ? one : other;
  }

  /** Returns the workers that are alive, by name, and forgets the others. */
  SortedMap<String, Present> alive(long nowNanos) {
    SortedMap<String, Present> alive = new TreeMap<>();
    for (String worker : workers.keySet()) {
      Entry left = workers.computeIfPresent(worker, (name, entry) -> {
        Map<String, Long> queues = new HashMap<>(entry.queues());
        queues.values().removeIf(until -> until - nowNanos < 0);
        return queues.isEmpty() ? null : new Entry(entry.zone(), queues, entry.graceNanos());
      });
      if (left != null) {
        alive.put(worker, new Present(left.zone(), new TreeSet<>(left.queues().keySet())));
      }
    }
    return alive;
  }
}
