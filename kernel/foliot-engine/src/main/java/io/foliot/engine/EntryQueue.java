package io.foliot.engine;

import io.foliot.core.store.DueEntry;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A first-in, first-out queue of entries that also returns the earliest wakeAt among them. */
final class EntryQueue {
  private final Deque<DueEntry> entries = new ArrayDeque<>();
  /**
   * The entries that are not followed by an entry with an earlier wakeAt. Their wakeAts ascend, so the first of them
   * has the earliest wakeAt of all entries.
   */
  private final Deque<DueEntry> ascending = new ArrayDeque<>();
  /** Number of entries, from the first on, that {@link #examine} has returned. */
  private int examined;
  /** Number of entries, from the first on, that {@link #examineAgain} has returned since {@link #restart}. */
  private int examinedAgain;

  void add(DueEntry entry) {
    entries.add(entry);
    while (!ascending.isEmpty() && ascending.getLast().wakeAt() > entry.wakeAt()) {
      ascending.removeLast();
    }
    ascending.add(entry);
  }

  /** Removes and returns the first entry, or returns null if there is none. */
  @Nullable
  DueEntry poll() {
    DueEntry first = entries.poll();
    if (first != null && first == ascending.peek()) {
      ascending.remove();
    }
    examined = Math.max(0, examined - 1);
    examinedAgain = Math.max(0, examinedAgain - 1);
    return first;
  }

  int size() {
    return entries.size();
  }

  /** Returns the earliest wakeAt, or {@link Long#MAX_VALUE} if there is no entry. */
  long oldest() {
    DueEntry first = ascending.peek();
    return first == null ? Long.MAX_VALUE : first.wakeAt();
  }

  /** Appends entries that were not examined before, at most {@code most}, to a collection. They stay in the queue. */
  void examine(Collection<DueEntry> to, int most) {
    examined += copy(examined, to, most);
  }

  /** Appends the next entries, at most {@code most}, to a collection, whether or not they were examined before. */
  void examineAgain(Collection<DueEntry> to, int most) {
    examinedAgain += copy(examinedAgain, to, most);
  }

  /** Makes {@link #examineAgain} begin with the first entry. */
  void restart() {
    examinedAgain = 0;
  }

  private int copy(int from, Collection<DueEntry> to, int most) {
    int before = to.size();
    if (from < entries.size()) {
      entries.stream().skip(from).limit(most).forEach(to::add);
    }
    return to.size() - before;
  }

  /** Removes the entries that a set contains, and appends them to a collection. */
  void remove(Set<DueEntry> which, Collection<DueEntry> to) {
    if (entries.stream().noneMatch(which::contains)) {
      return;
    }
    List<DueEntry> all = List.copyOf(entries);
    int wereExamined = examined;
    int wereExaminedAgain = examinedAgain;
    clear();
    for (int i = 0; i < all.size(); i++) {
      DueEntry entry = all.get(i);
      if (which.contains(entry)) {
        to.add(entry);
      } else {
        add(entry);
        examined += i < wereExamined ? 1 : 0;
        examinedAgain += i < wereExaminedAgain ? 1 : 0;
      }
    }
  }

  /** Moves all entries to the end of a collection. */
  void drainTo(Collection<DueEntry> all) {
    all.addAll(entries);
    clear();
  }

  private void clear() {
    entries.clear();
    ascending.clear();
    examined = 0;
    examinedAgain = 0;
  }
}
