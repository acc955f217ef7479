package io.foliot.bench.classic;

import org.jspecify.annotations.Nullable;

/** A doubly linked list whose links are fields of the timers, so that a timer is removed without a search. */
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
   * Inserts a timer after all timers that are due earlier or at the same tick. The search begins at the rear, so it
   * ends at once if timers come in the order of their deadlines.
   */
  void insertSorted(Timer timer) {
    Timer before = last;
    while (before != null && timer.isBefore(before)) {
      before = before.prev;
    }
    insertAfter(before, timer);
  }

  void remove(Timer timer) {
    assert timer.list == this : "a timer is removed from the list that contains it: cell=" + timer.cell;
    link(timer.prev, timer.next);
    timer.prev = null;
    timer.next = null;
    timer.list = null;
  }

  private void insertAfter(@Nullable Timer before, Timer timer) {
    assert timer.list == null : "a timer is in at most one list: cell=" + timer.cell;
    Timer after = before == null ? first : before.next;
    timer.list = this;
    link(before, timer);
    link(timer, after);
  }

  /** Makes two timers neighbours. Null is the end of the list on that side. */
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
