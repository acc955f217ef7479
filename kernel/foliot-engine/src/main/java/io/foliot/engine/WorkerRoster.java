package io.foliot.engine;

import static java.util.Objects.requireNonNull;

import io.foliot.core.Scheduler.TooManyWorkersException;
import io.foliot.core.coordination.WorkerId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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

  /** Time for which a node remembers that it has refused a claim. A worker repeats its claims with shorter pauses. */
  private static final long REFUSED_NANOS = 60_000_000_000L;

  // guarded by this
  private final Map<WorkerId, Entry> workers = new HashMap<>();
  /** The numbers of workers by owner. */
  private final Map<String, Integer> owned = new HashMap<>();
  /** The queues of refused claims, with the times at which the refusals are forgotten. */
  private final Map<String, Long> refused = new HashMap<>();

  /**
   * Records that a worker waits for tasks of a queue until a time of the monotonic clock. Ignores a worker without a
   * name, and a new worker or queue beyond the maximum number.
   *
   * @throws TooManyWorkersException if the worker is new, and with it its owner would have more workers than the rest
   *     of the maximum number. So one owner can never keep the workers of all others away. The application that
   *     contains the engine has all that is free
   */
  synchronized void waits(WorkerId worker, String zone, String queue, long leaseMillis, long untilNanos) {
    Entry before = worker.isAnonymous() ? null : workers.get(worker);
    if (worker.isAnonymous() || (before == null && !hasRoom(worker.owner(), queue, untilNanos))) {
      return;
    }
    Map<String, Long> queues = new HashMap<>(before == null ? Map.of() : before.queues());
    if (queues.size() >= Vouchers.MAX_QUEUES && !queues.containsKey(queue)) {
      return;
    }
    queues.merge(queue, untilNanos + POLLS_AGAIN_NANOS, WorkerRoster::later);
    long graceNanos = Math.min(LONGEST_GRACE_NANOS, leaseMillis * NANOS_PER_MILLI / 2 + POLLS_AGAIN_NANOS);
    workers.put(worker, new Entry(zone, queues, graceNanos));
    if (before == null) {
      owned.merge(worker.owner(), 1, Integer::sum);
    }
  }

  /**
   * Records that a worker hung up while it waited. It has the time of one more poll, unless another call shows that it
   * is alive.
   *
   * @param untilNanos the end of the wait, as it was recorded
   * @param nextNanos the end of the latest other wait of the worker for this queue, or the present time
   */
  synchronized void hangsUp(WorkerId worker, String queue, long untilNanos, long nextNanos) {
    Entry known = workers.get(worker);
    if (known != null && Long.valueOf(untilNanos + POLLS_AGAIN_NANOS).equals(known.queues().get(queue))) {
      keep(worker, known, queues -> queues.put(queue, nextNanos + POLLS_AGAIN_NANOS));
    }
  }

  private boolean hasRoom(String owner, String queue, long untilNanos) {
    int own = owned.getOrDefault(owner, 0);
    if (!owner.isEmpty() && own >= MAX_WORKERS - workers.size()) {
      refused.put(queue, untilNanos + REFUSED_NANOS);
      throw new TooManyWorkersException(own);
    }
    return workers.size() < MAX_WORKERS;
  }

  /** Records that a worker has tasks, if the worker is known here. */
  synchronized void works(WorkerId worker, long nowNanos) {
    workers.computeIfPresent(worker, (name, before) -> before.alive(nowNanos + before.graceNanos()));
  }

  /** Records that a worker takes no more tasks of a queue. The tasks that it still runs do not keep it alive. */
  synchronized void leaves(WorkerId worker, String queue) {
    Entry before = workers.get(worker);
    if (before != null) {
      keep(worker, before, queues -> queues.remove(queue));
    }
  }

  /** Changes the queues of a worker, and forgets the worker if it has none left. Returns null then. */
  private @Nullable Entry keep(WorkerId worker, Entry before, Consumer<Map<String, Long>> change) {
    Map<String, Long> queues = new HashMap<>(before.queues());
    change.accept(queues);
    if (queues.isEmpty()) {
      workers.remove(worker);
      owned.computeIfPresent(worker.owner(), (owner, count) -> count == 1 ? null : Integer.valueOf(count - 1));
      return null;
    }
    Entry after = new Entry(before.zone(), queues, before.graceNanos());
    workers.put(worker, after);
    return after;
  }

  private static long later(long one, long other) {
    return one - other >= 0 ? one : other;
  }

  /** Returns whether a claim of a queue was refused lately, because its owner had too many workers. */
  synchronized boolean hasRefused(String queue) {
    return refused.containsKey(queue);
  }

  /** Returns the workers that are alive, and forgets the others. */
  synchronized Map<WorkerId, Present> alive(long nowNanos) {
    refused.values().removeIf(until -> until - nowNanos < 0);
    Map<WorkerId, Present> alive = new HashMap<>();
    for (WorkerId worker : List.copyOf(workers.keySet())) {
      Entry left = keep(worker, requireNonNull(workers.get(worker)),
          queues -> queues.values().removeIf(until -> until - nowNanos < 0));
      if (left != null) {
        alive.put(worker, new Present(left.zone(), new TreeSet<>(left.queues().keySet())));
      }
    }
    return alive;
  }
}
