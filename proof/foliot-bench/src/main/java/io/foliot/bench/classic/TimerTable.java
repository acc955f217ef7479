package io.foliot.bench.classic;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a queue by their handles. A cell is used again when its timer is gone; the handle says which life of
 * the cell it means, so a stale one finds nothing.
 */
final class TimerTable {
  /** An array list holds no more elements than this on any JVM. */
  private static final int MAX_TIMERS = Integer.MAX_VALUE - 8;

  private final List<Timer> cells = new ArrayList<>();
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

  /** Makes the timer's handle stale. A cell whose generations are used up is never used again. */
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

  /** The number of cells, free ones included; it grows while an iteration schedules. */
  int cells() {
    return cells.size();
  }

  Timer cell(int cell) {
    return cells.get(cell);
  }
}
