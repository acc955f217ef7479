package io.foliot.bench.classic;

import java.util.Comparator;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A balanced tree, the red-black tree of the JDK.
 *
 * <p>Schedule: O(log n), at worst and on average. Cancel: O(log n). Tick: O(log n), even if nothing is due, because
 * {@link TreeSet#first} descends to the leftmost node; O(log n) per timer handed out. Next wake: O(log n), for the same
 * reason.
 *
 * <p>This is one of the structures of scheme 3 of Varghese and Lauck.
 */
public final class TreeQueue extends SortedQueue {
  private final TreeSet<Timer> tree = new TreeSet<>(
      Comparator.<Timer>comparingLong(timer -> timer.deadlineTick).thenComparingLong(timer -> timer.order));

  /** Creates an empty tree whose time is the given tick. */
  public TreeQueue(long startTick) {
    super(startTick);
  }

  @Override
  @Nullable
  Timer first() {
    return tree.isEmpty() ? null : tree.first();
  }

  @Override
  void place(Timer timer) {
    tree.add(timer);
  }

  @Override
  void remove(Timer timer) {
    boolean removed = tree.remove(timer);
    assert removed : "a placed timer is not in the tree: cell=" + timer.cell;
  }
}
