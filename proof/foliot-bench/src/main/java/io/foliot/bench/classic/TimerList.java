package io.foliot.bench.classic;

import org.jspecify.annotations.Nullable;

/** A doubly linked list through the timers themselves, so that one can leave it without being searched for. */
final class TimerList {
  private @Nullable Timer first;
  private @Nullable Timer last;

  static TimerList[] lists(int count) {
    TimerList[] lists = new TimerList[count];
    for (int i = 0; i < count; i++) {
      lists[i] = new TimerList();
    }
    return lists;
  }

  boolean isEmpty() {
    return first == null;
  }

  @Nullable
  Timer first() {
    return first;
  }

  void append(Timer timer) {
    insertAfter(last, timer);
  }

  /**
   * Inserts behind all timers that are due before it or at the same tick. The search begins at the rear: it is over at
   * once where timers come in the order of their deadlines, as those of one constant delay do.
   */
  void insertSorted(Timer timer) {
    Timer before = last;
    while (before != null && timer.isBefore(before)) {
      before = before.prev;
    }
    insertAfter(before, timer);
  }

  void remove(Timer timer) {
    assert timer.list == this : "a timer leaves the list that it is in: cell=" + timer.cell;
    link(timer.prev, timer.next);
    timer.prev = null;
    timer.next = null;
    timer.list = null;
  }

  private void insertAfter(@Nullable Timer before, Timer timer) {
    assert timer.list == null : "a timer is in one list: cell=" + timer.cell;
    Timer after = before == null ? first : before.next;
    timer.list = this;
    link(before, timer);
    link(timer, after);
  }

  /** Makes two timers neighbours; null means the end of the list on that side. */
  private void link(@Nullable Timer before, @Nullable Timer after) {
    if (before == null) {
      first = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      last = before;
    } else {
      after.prev = before;
    }
  }
}
