package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * An unbounded queue of tasks, for any number of producers and consumers. Tasks leave the queue in the order in which
 * their producers have reserved cells. A producer adds a batch of tasks at the cost of one atomic addition.
 *
 * <p>The queue is a list of arrays. A producer reserves consecutive cells of the last array with one addition, and then
 * fills them. A consumer takes the first cell with one compare-and-set, and clears the cell. An array is left behind
 * when all its cells have been taken.
 *
 * <p>A cell that is reserved but not yet filled is the end of the queue for consumers: {@link #poll} does not wait for
 * its producer. So a task that was added may not be seen before an earlier call of {@code add} has returned. A producer
 * that wakes a consumer if none polls must therefore do so after each call of {@code add}.
 *
 * <p>Rejected: {@link java.util.concurrent.ConcurrentLinkedQueue}. Each task needs a node, which a consumer on another
 * processor loads with a cache miss. A cache line of an array holds sixteen tasks.
 */
final class TaskQueue {
  /** Default number of cells in an array: 4 KiB with compressed references. */
  private static final int CELLS = 1024;

  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(Runnable[].class);
  private static final AtomicReferenceFieldUpdater<TaskQueue, Segment> FIRST = AtomicReferenceFieldUpdater
      .newUpdater(TaskQueue.class, Segment.class, "first");
  private static final AtomicReferenceFieldUpdater<TaskQueue, Segment> LAST = AtomicReferenceFieldUpdater
      .newUpdater(TaskQueue.class, Segment.class, "last");
  private static final AtomicLongFieldUpdater<Segment> RESERVED = AtomicLongFieldUpdater
      .newUpdater(Segment.class, "reserved");
  private static final AtomicIntegerFieldUpdater<Segment> TAKEN = AtomicIntegerFieldUpdater
      .newUpdater(Segment.class, "taken");
  private static final AtomicReferenceFieldUpdater<Segment, Segment> NEXT = AtomicReferenceFieldUpdater
      .newUpdater(Segment.class, Segment.class, "next");

  private static final class Segment {
    final @Nullable Runnable[] cells;

    /** Number of cells that producers have reserved; more than the array has if some found the array full. */
    @SuppressWarnings("UnusedVariable") // used through RESERVED
    volatile long reserved;

    /** Number of cells that consumers have taken. */
    volatile int taken;

    /**
     * The next array, or null if there is none. Once consumers have left this array behind, it is this array itself: an
     * old array must not keep its successors from the garbage collector.
     */
    volatile @Nullable Segment next;

    Segment(int cells) {
      this.cells = new Runnable[cells];
    }
  }

  private final int cells;

  /** Array that consumers take from. */
  private volatile Segment first;

  /** Array that producers add to; it is never before {@link #first}. */
  private volatile Segment last;

  TaskQueue() {
    this(CELLS);
  }

  /** Creates a queue of arrays with a number of cells. Tests use small arrays. */
  TaskQueue(int cells) {
    this.cells = cells;
    Segment segment = new Segment(cells);
    first = segment;
    last = segment;
  }

  void add(Runnable task) {
    for (Segment segment = last;; segment = after(segment)) {
      long index = RESERVED.getAndIncrement(segment);
      if (index < cells) {
        CELL.setVolatile(segment.cells, (int) index, task);
        return;
      }
    }
  }

  /**
   * Adds tasks of an array, in their order, and clears their elements in the array. Adds only as many as fit into the
   * last array of the queue. If this method throws, it has added none.
   *
   * @param from the element of the first task
   * @param to the element after the last task; greater than {@code from}
   * @return the element after the last task that was added; greater than {@code from}
   */
  int add(@Nullable Runnable[] tasks, int from, int to) {
    for (Segment segment = last;; segment = after(segment)) {
      long reserved = RESERVED.getAndAdd(segment, to - from);
      if (reserved < cells) {
        int added = Math.min(to - from, cells - (int) reserved);
        for (int i = 0; i < added; i++) {
          CELL.setRelease(segment.cells, (int) reserved + i, tasks[from + i]);
          tasks[from + i] = null;
        }
        // Orders the tasks before the next read of the caller, which may check whether a consumer polls.
        VarHandle.fullFence();
        return from + added;
      }
    }
  }

  /** Returns an array after a full one, and adds it if there is none. */
  private Segment after(Segment full) {
    Segment next = full.next;
    if (next == full) {
      // Consumers have left the array behind, and so the last array is another one.
      return last;
    }
    if (next == null) {
      Segment added = new Segment(cells);
      next = NEXT.compareAndSet(full, null, added) ? added : requireNonNull(full.next);
      if (next == full) {
        return last;
      }
    }
    // Fails if another producer, or a consumer, has done the same.
    LAST.compareAndSet(this, full, next);
    return next;
  }

  /** Removes and returns the first task; null if there is none. */
  @Nullable
  Runnable poll() {
    while (true) {
      Segment segment = first;
      int index = segment.taken;
      if (index == cells) {
        if (!leave(segment)) {
          return null;
        }
        continue;
      }
      Runnable task = (Runnable) CELL.getVolatile(segment.cells, index);
      if (task == null) {
        // Another consumer may have taken and cleared the cell.
        if (segment.taken == index) {
          return null;
        }
      } else if (TAKEN.compareAndSet(segment, index, index + 1)) {
        CELL.setRelease(segment.cells, index, null);
        return task;
      }
    }
  }

  /** Returns whether {@link #poll} would find no task. */
  boolean isEmpty() {
    while (true) {
      Segment segment = first;
      int index = segment.taken;
      if (index == cells) {
        if (!leave(segment)) {
          return true;
        }
      } else if (CELL.getVolatile(segment.cells, index) != null) {
        return false;
      } else if (segment.taken == index) {
        return true;
      }
    }
  }

  /** Makes the array after an empty one the first; returns false if there is none. */
  private boolean leave(Segment empty) {
    Segment next = empty.next;
    if (next == null) {
      return false;
    }
    if (next != empty) {
      LAST.compareAndSet(this, empty, next);
      if (FIRST.compareAndSet(this, empty, next)) {
        empty.next = empty;
      }
    }
    return true;
  }
}
