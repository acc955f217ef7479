package io.foliot.engine;

import io.foliot.core.Address;
import io.foliot.core.Scheduler.Pulled;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The workers that wait for tasks of one pull queue, in order of arrival. Shared by a node's loops; thread-safe.
 *
 * <p>A loop asks for a waiter for each entry. So the waiters that have room are also kept by worker and by zone, and
 * the search costs the same however many workers wait.
 */
final class LongPollQueue {
  private final String queue;
  private final Supplier<Seating> seating;

  // guarded by this
  /** The waiters of enabled workers. */
  private final Set<Waiter> waiters = new LinkedHashSet<>();
  /** Of these, the waiters that take at least one more task. */
  private final Set<Waiter> open = new LinkedHashSet<>();
  private final Map<WorkerId, Set<Waiter>> openByWorker = new HashMap<>();
  private final Map<Integer, Set<Waiter>> openByZone = new HashMap<>();
  private int demand;
  private long changes;
  /** Disabled workers, which receive no tasks. */
  private final Deque<Waiter> disabled = new ArrayDeque<>();

  /** @param seating returns the seating that the node read most recently */
  LongPollQueue(String queue, Supplier<Seating> seating) {
    this.queue = queue;
    this.seating = seating;
  }

  /** A task that was claimed for a worker, and the end of its lease by the monotonic clock. */
  private record Won(TaskRecord task, long leaseEndNanos) {}

  /** One call of a worker that waits for tasks. */
  static final class Waiter {
    private final WorkerId worker;
    private final long leaseMillis;
    private final long calledNanos;
    private final CompletableFuture<Pulled> answer = new CompletableFuture<>();
    private final CompletionStage<?> payloadsTaken;

    // guarded by the queue of long polls
    private int max;
    private long deadlineNanos;
    private boolean isClosed;
    private int zone;
    private final List<Won> tasks = new ArrayList<>();
    private int reserved;

    /**
     * Creates a call that begins to wait.
     *
     * @param worker the worker, which may be anonymous
     * @param max how many tasks the worker takes at most
     * @param leaseMillis the lease of each task that is claimed for the call
     * @param calledNanos when the call came, by the monotonic clock
     * @param deadlineNanos the end of the wait, by the same clock; the call is then answered even without a task, once
     *     no claim for the call is under way
     * @param taken completes when the payloads of the answer are no longer needed
     */
    Waiter(WorkerId worker, int max, long leaseMillis, long calledNanos, long deadlineNanos,
        CompletionStage<?> taken) {
      this.worker = worker;
      this.max = max;
      this.leaseMillis = leaseMillis;
      this.calledNanos = calledNanos;
      this.deadlineNanos = deadlineNanos;
      payloadsTaken = answer.thenCompose(tasks -> taken);
    }

    WorkerId worker() {
      return worker;
    }

    long leaseMillis() {
      return leaseMillis;
    }

    /**
     * Returns a stage that completes when the waiter was answered, and the payloads of the answer are no longer needed.
     */
    CompletionStage<?> payloadsTaken() {
      return payloadsTaken;
    }

    CompletableFuture<Pulled> answer() {
      return answer;
    }

    /**
     * Answers with the tasks whose leases still run. A task may have waited for other claims of this call. If its lease
     * has ended meanwhile, the task may have been claimed again.
     */
    private void answer(long nowNanos) {
      List<Won> held = tasks.stream().filter(won -> won.leaseEndNanos() - nowNanos > 0).toList();
      long leaseNanos = held.stream().mapToLong(won -> won.leaseEndNanos() - calledNanos).min().orElse(0);
      answer.complete(
          new Pulled(held.stream().map(Won::task).toList(), TimeUnit.NANOSECONDS.toMillis(leaseNanos)));
    }
  }

  /** Adds a worker. A disabled worker waits until it is enabled or its time is over. */
  synchronized void add(Waiter waiter) {
    // The seating is read under the lock. If this read misses a change of the seating, a later followFleet applies the
    // change.
    Seating now = seating.get();
    if (now.isDisabled(waiter.worker)) {
      disabled.add(waiter);
    } else {
      waits(waiter, now);
    }
  }

  private void waits(Waiter waiter, Seating now) {
    waiters.add(waiter);
    waiter.zone = now.zoneOf(waiter.worker, queue);
    index(waiter);
  }

  /** Puts a waiter into the indexes if it has room. */
  private void index(Waiter waiter) {
    if (waiter.reserved < waiter.max && !waiter.isClosed) {
      changes++;
      open.add(waiter);
      openByWorker.computeIfAbsent(waiter.worker, none -> new LinkedHashSet<>()).add(waiter);
      openByZone.computeIfAbsent(waiter.zone, none -> new LinkedHashSet<>()).add(waiter);
      demand += waiter.max - waiter.reserved;
    }
  }

  /** Removes a waiter from the indexes if it is there. */
  private void unindex(Waiter waiter) {
    if (open.remove(waiter)) {
      remove(openByWorker, waiter.worker, waiter);
      remove(openByZone, waiter.zone, waiter);
      demand -= waiter.max - waiter.reserved;
    }
  }

  private static <K> void remove(Map<K, Set<Waiter>> index, K key, Waiter waiter) {
    Set<Waiter> group = index.get(key);
    if (group != null && group.remove(waiter) && group.isEmpty()) {
      index.remove(key);
    }
  }

  /**
   * Applies the current seating: disabled workers without a reserved task wait apart, and workers that are enabled
   * again wait for tasks.
   */
  synchronized void followFleet() {
    Seating now = seating.get();
    List<Waiter> moved = new ArrayList<>();
    for (Waiter waiter : List.copyOf(waiters)) {
      unindex(waiter);
      if (waiter.reserved == 0 && now.isDisabled(waiter.worker)) {
        waiters.remove(waiter);
        moved.add(waiter);
      } else {
        waiter.zone = now.zoneOf(waiter.worker, queue);
        index(waiter);
      }
    }
    disabled.removeIf(waiter -> {
      boolean isEnabled = !now.isDisabled(waiter.worker);
      if (isEnabled) {
        waits(waiter, now);
      }
      return isEnabled;
    });
    disabled.addAll(moved);
  }

  /** Ends the waits of a worker. The worker gets the tasks that are reserved for it, and no more. */
  synchronized void end(WorkerId worker, long nowNanos) {
    Stream.concat(waiters.stream(), disabled.stream()).filter(waiter -> waiter.worker.equals(worker))
        .forEach(waiter -> end(waiter, nowNanos));
  }

  /**
   * Ends the wait of a caller that has gone away. It gets no further task, also none whose claim is under way: the
   * engine takes such a task back ({@link #won}). Returns the end of the latest other wait of the worker, or the
   * present time if it has none.
   */
  synchronized long abandon(Waiter waiter, long nowNanos) {
    waiter.isClosed = true;
    end(waiter, nowNanos);
    return Stream.concat(waiters.stream(), disabled.stream())
        .filter(other -> other != waiter && other.worker.equals(waiter.worker)).map(other -> other.deadlineNanos)
        .reduce(nowNanos, (one, other) -> one - other >= 0 ? one : other);
  }

  private void end(Waiter waiter, long nowNanos) {
    unindex(waiter);
    waiter.max = 0;
    waiter.deadlineNanos = nowNanos;
  }

  /** Returns whether no enabled worker waits. */
  synchronized boolean isEmpty() {
    return waiters.isEmpty();
  }

  /** Returns whether workers wait, including disabled workers. */
  synchronized boolean hasWaiters() {
    return !waiters.isEmpty() || !disabled.isEmpty();
  }

  /** Returns how many more tasks the waiting workers take. */
  synchronized int demand() {
    return demand;
  }

  /** Returns a number that grows whenever a waiter gets room for a task. */
  synchronized long changes() {
    return changes;
  }

  /** Reserves a place for a task at the first waiter that has room, or returns null if there is none. */
  synchronized @Nullable Waiter reserve() {
    return reserve(open);
  }

  /**
   * Reserves a place for a task with an address, other than {@link Address#ANYWHERE}, at the first waiter that has room
   * and may run the task; null if there is none.
   */
  synchronized @Nullable Waiter reserve(Seating now, Address address) {
    return reserve(candidates(now, address));
  }

  private Set<Waiter> candidates(Seating now, Address address) {
    if (address.kind() == Address.Kind.ZONE) {
      return openByZone.getOrDefault(address.number(), Set.of());
    }
    Fleet.Seat server = now.fleet().server(queue, address);
    return server == null ? Set.of() : openByWorker.getOrDefault(server.id(), Set.of());
  }

  private @Nullable Waiter reserve(Set<Waiter> from) {
    while (!from.isEmpty()) {
      Waiter waiter = from.iterator().next();
      if (waiter.answer.isDone()) {
        unindex(waiter);
        waiters.remove(waiter);
      } else {
        waiter.reserved++;
        demand--;
        if (waiter.reserved == waiter.max) {
          unindex(waiter);
        }
        return waiter;
      }
    }
    return null;
  }

  /** Returns whether a waiter that may run a task with an address has room for it. */
  synchronized boolean isWaitedFor(Seating now, Address address) {
    return !candidates(now, address).isEmpty();
  }

  /**
   * Adds a claimed task to the answer of a waiter, in the place that was reserved for it. The lease of the task ends
   * when the monotonic clock shows {@code leaseEndNanos}. Returns false if the waiter was closed: no worker gets the
   * task, and the place is free.
   */
  synchronized boolean won(Waiter waiter, TaskRecord task, long leaseEndNanos) {
    if (waiter.isClosed) {
      waiter.reserved--;
      return false;
    }
    return waiter.tasks.add(new Won(task, leaseEndNanos));
  }

  /** Frees a reserved place, because its task could not be claimed. */
  synchronized void lost(Waiter waiter) {
    unindex(waiter);
    waiter.reserved--;
    if (waiters.contains(waiter)) {
      index(waiter);
    }
  }

  /** Answers a waiter if it has tasks or its time is over, but not while a claim for the waiter is under way. */
  void answer(long nowNanos) {
    List<Waiter> served = new ArrayList<>();
    synchronized (this) {
      waiters.removeIf(waiter -> {
        boolean nothingOnTheWay = waiter.reserved == waiter.tasks.size();
        boolean over = !waiter.tasks.isEmpty() || nowNanos - waiter.deadlineNanos >= 0;
        if (nothingOnTheWay && over) {
          served.add(waiter);
          unindex(waiter);
        }
        return nothingOnTheWay && over;
      });
      disabled.removeIf(waiter -> nowNanos - waiter.deadlineNanos >= 0 && served.add(waiter));
    }
    served.forEach(waiter -> waiter.answer(nowNanos));
  }

  /** Answers all waiters; they get no further tasks. */
  void close(long nowNanos) {
    List<Waiter> left;
    synchronized (this) {
      left = new ArrayList<>(waiters);
      left.addAll(disabled);
      left.forEach(waiter -> {
        unindex(waiter);
        waiter.isClosed = true;
      });
      waiters.clear();
      disabled.clear();
    }
    left.forEach(waiter -> waiter.answer(nowNanos));
  }
}
