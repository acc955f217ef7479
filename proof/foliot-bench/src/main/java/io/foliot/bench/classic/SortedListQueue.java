package io.foliot.bench.classic;

import org.jspecify.annotations.Nullable;

/**
 * A list in the order of deadlines. A schedule searches the list from its rear.
 *
 * <p>Schedule: O(n), a comparison for each timer that is due later than the new one; O(1) if there is no later one, for
 * example if all delays are equal. Cancel: O(1). Tick: O(1), and O(1) per timer handed out. Next wake: O(1).
 *
 * <p>This is scheme 2 of Varghese and Lauck.
 */
public final class SortedListQueue extends SortedQueue {
  private final TimerList list = new TimerList();

  /** Creates an empty queue whose time is the given tick. */
  public SortedListQueue(long startTick) {
    super(startTick);
  }

  @Override
  @Nullable
  Timer first() {
    return list.first();
  }

  @Override
  void place(Timer timer) {
    list.insertSorted(timer);
  }

  @Override
  void remove(Timer timer) {
    list.remove(timer);
  }
}
