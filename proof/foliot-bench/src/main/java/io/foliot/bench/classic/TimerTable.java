package io.foliot.bench.classic;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a queue, found by their handles. The cell of a removed timer is used again. A handle contains the
 * generation of its cell, so a stale handle finds nothing.
 */
final class TimerTable {
  /** Maximum number of cells of a queue: an array list can hold this number of elements on every JVM. */
  private static final int MAX_TIMERS = Integer.MAX_VALUE - 8;

  private final List<Timer> cells = new ArrayList<>();
  /** The first of the linked free cells, or null. */
  private @Nullable Timer free;
  private int size;

  Timer take(long payload) {
    Timer timer = free;
    if (timer != null) {
      free = timer.next;
      timer.next = null;
    } else {
      if (cells.size() == MAX_TIMERS) {
        throw new IllegalStateException("a queue holds at most " + MAX_TIMERS + " timers: size=" + size);
      }
      timer = new Timer(cells.size());
      cells.add(timer);
    }
    timer.live = true;
    timer.payload = payload;
    size++;
    return timer;
  }

  /** Frees the timer's cell, and so makes its handle stale. A cell is retired when its generations are used up. */
  void release(Timer timer) {
    assert timer.live && timer.list == null : "a timer must be detached before it is released: cell=" + timer.cell;
    timer.live = false;
    size--;
    if (++timer.generation != 0) {
      timer.next = free;
      free = timer;
    }
  }

  @Nullable
  Timer find(long handle) {
    int cell = (int) handle;
    if (cell < 0 || cell >= cells.size()) {
      return null;
    }
    Timer timer = cells.get(cell);
    return timer.live && timer.handle() == handle ? timer : null;
  }

  int size() {
    return size;
  }

  /**
   * Returns the number of cells, including free ones. The number may grow while a caller iterates over the cells and
   * schedules timers.
   */
  int cells() {
    return cells.size();
  }

  Timer cell(int cell) {
    return cells.get(cell);
  }
}
