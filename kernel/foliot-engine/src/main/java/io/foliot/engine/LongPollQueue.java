package io.foliot.engine;

import io.foliot.core.Scheduler.Pulled;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The workers that wait for tasks of one pull queue, in order of arrival. Shared by a node's loops; thread-safe. */
final class LongPollQueue {
  private final Supplier<Seating> seating;

  // guarded by this
  private final Deque<Waiter> waiters = new ArrayDeque<>();
  /** Disabled workers, which receive no tasks. */
  private final Deque<Waiter> disabled = new ArrayDeque<>();

  /** @param seating returns the seating that the node read most recently */
  LongPollQueue(Supplier<Seating> seating) {
    this.seating = seating;
  }

  /** A task that was claimed for a worker, and the end of its lease by the monotonic clock. */
  private record Won(TaskRecord task, long leaseEndNanos) {}

  /** One call of a worker that waits for tasks. */
  static final class Waiter {
    private final String worker;
    private final long leaseMillis;
    private final long calledNanos;
    private final CompletableFuture<Pulled> answer = new CompletableFuture<>();
    private final CompletionStage<?> payloadsTaken;

    // guarded by the queue of long polls
    private int max;
    private long deadlineNanos;
    private boolean isClosed;
    private final List<Won> tasks = new ArrayList<>();
    private int reserved;

    /**
     * Creates a call that begins to wait.
     *
     * @param worker the name of the worker, or empty
     * @param max how many tasks the worker takes at most
     * @param leaseMillis the lease of each task that is claimed for the call
     * @param calledNanos when the call came, by the monotonic clock
     * @param deadlineNanos the end of the wait, by the same clock; the call is then answered even without a task, once
     *     no claim for the call is under way
     * @param taken completes when the payloads of the answer are no longer needed
     */
    Waiter(String worker, int max, long leaseMillis, long calledNanos, long deadlineNanos,
        CompletionStage<?> taken) {
      this.worker = worker;
      this.max = max;
      this.leaseMillis = leaseMillis;
      this.calledNanos = calledNanos;
      this.deadlineNanos = deadlineNanos;
      payloadsTaken = answer.thenCompose(tasks -> taken);
    }

    String worker() {
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
    (seating.get().isDisabled(waiter.worker) ? disabled : waiters).add(waiter);
  }

  /**
   * Applies the current seating: disabled workers without a reserved task wait apart, and workers that are enabled
   * again wait for tasks.
   */
  synchronized void followFleet() {
    Seating now = seating.get();
    List<Waiter> moved = new ArrayList<>();
    waiters.removeIf(waiter -> waiter.reserved == 0 && now.isDisabled(waiter.worker) && moved.add(waiter));
    disabled.removeIf(waiter -> !now.isDisabled(waiter.worker) && waiters.add(waiter));
    disabled.addAll(moved);
  }

  /** Ends the waits of a worker. The worker gets the tasks that are reserved for it, and no more. */
  synchronized void end(String worker, long nowNanos) {
    Stream.concat(waiters.stream(), disabled.stream()).filter(waiter -> waiter.worker.equals(worker))
        .forEach(waiter -> {
          waiter.max = 0;
          waiter.deadlineNanos = nowNanos;
        });
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
    int demand = 0;
    for (Waiter waiter : waiters) {
      demand += Math.max(0, waiter.max - waiter.reserved);
    }
    return demand;
  }

  /** Reserves a place for a task at the first waiter that has room, or returns null if there is none. */
  @Nullable
  Waiter reserve() {
    return reserve(waiter -> true);
  }

  /** Reserves a place for a task at the first waiter that has room and may run it; null if there is none. */
  synchronized @Nullable Waiter reserve(Predicate<Waiter> mayRun) {
    Iterator<Waiter> each = waiters.iterator();
    while (each.hasNext()) {
      Waiter waiter = each.next();
      if (waiter.answer.isDone()) {
        each.remove();
      } else if (waiter.reserved < waiter.max && mayRun.test(waiter)) {
        waiter.reserved++;
        return waiter;
      }
    }
    return null;
  }

  /** Returns whether a waiter that may run a task has room for it. */
  synchronized boolean isWaitedFor(Predicate<Waiter> mayRun) {
    for (Waiter waiter : waiters) {
      if (waiter.reserved < waiter.max && mayRun.test(waiter)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Adds a claimed task to the answer of a waiter, in the place that was reserved for it. The lease of the task ends
   * when the monotonic clock shows {@code leaseEndNanos}. Returns false if the waiter was closed: no worker gets the
   * task.
   */
  synchronized boolean won(Waiter waiter, TaskRecord task, long leaseEndNanos) {
    return !waiter.isClosed && waiter.tasks.add(new Won(task, leaseEndNanos));
  }

  /** Frees a reserved place, because its task could not be claimed. */
  synchronized void lost(Waiter waiter) {
    waiter.reserved--;
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
      left.forEach(waiter -> waiter.isClosed = true);
      waiters.clear();
      disabled.clear();
    }
    left.forEach(waiter -> waiter.answer(nowNanos));
  }
}
