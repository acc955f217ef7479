package io.foliot.bench.classic;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A binary heap in an array. Each timer holds its position in the array, so a cancel need not search for the timer.
 *
 * <p>Schedule: O(log n) at worst, when the timer is the earliest; O(1) on average, if deadlines come in random order.
 * Cancel: O(log n). Tick: O(1) if nothing is due, O(log n) per timer handed out. The array doubles when it is full, so
 * a single schedule may cost O(n). Next wake: O(1).
 *
 * <p>This is one of the structures of scheme 3 of Varghese and Lauck. {@code java.util.Timer} and
 * {@code ScheduledThreadPoolExecutor} are binary heaps, too.
 */
public final class HeapQueue extends SortedQueue {
  private static final int INITIAL_CAPACITY = 16;

  private @Nullable Timer[] heap = new Timer[INITIAL_CAPACITY];
  private int count;

  /** Creates an empty heap whose time is the given tick. */
  public HeapQueue(long startTick) {
    super(startTick);
  }

  @Override
  @Nullable
  Timer first() {
    return heap[0];
  }

  @Override
  void place(Timer timer) {
    if (count == heap.length) {
      heap = Arrays.copyOf(heap, count * 2);
    }
    siftUp(count++, timer);
  }

  @Override
  void remove(Timer timer) {
    int hole = timer.position;
    Timer moved = at(--count);
    heap[count] = null;
    if (moved != timer) {
      siftDown(hole, moved);
      if (moved.position == hole) {
        siftUp(hole, moved);
      }
    }
  }

  private void siftUp(int hole, Timer timer) {
    int position = hole;
    while (position > 0 && timer.isBefore(at(parent(position)))) {
      set(position, at(parent(position)));
      position = parent(position);
    }
    set(position, timer);
    assert isInOrder(position) : "no timer is before its parent: position=" + position;
  }

  private void siftDown(int hole, Timer timer) {
    int position = hole;
    int child = earlierChild(position);
    while (child < count && at(child).isBefore(timer)) {
      set(position, at(child));
      position = child;
      child = earlierChild(position);
    }
    set(position, timer);
  }

  /** Returns the position of the child that is due first; it is {@code count} or more if there is no child. */
  private int earlierChild(int position) {
    int left = 2 * position + 1;
    int right = left + 1;
    return right < count && at(right).isBefore(at(left)) ? right : left;
  }

  private boolean isInOrder(int position) {
    int child = earlierChild(position);
    return (position == 0 || at(parent(position)).isBefore(at(position)))
        && (child >= count || at(position).isBefore(at(child)));
  }

  private static int parent(int position) {
    return (position - 1) / 2;
  }

  private Timer at(int position) {
    Timer timer = heap[position];
    assert timer != null : "a position below count holds a timer: position=" + position + ", count=" + count;
    return timer;
  }

  private void set(int position, Timer timer) {
    heap[position] = timer;
    timer.position = position;
  }
}
