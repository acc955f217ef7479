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

  /** Appends the first entries, at most {@code most}, to a collection. They stay in the queue. */
  void copyTo(Collection<DueEntry> to, int most) {
    entries.stream().limit(Math.max(0, most)).forEach(to::add);
  }

  /** Removes the entries that a set contains, and appends them to a collection. */
  void remove(Set<DueEntry> which, Collection<DueEntry> to) {
    if (entries.stream().noneMatch(which::contains)) {
      return;
    }
    List<DueEntry> all = List.copyOf(entries);
    entries.clear();
    ascending.clear();
    for (DueEntry entry : all) {
      if (which.contains(entry)) {
        to.add(entry);
      } else {
        add(entry);
      }
    }
  }

  /** Moves all entries to the end of a collection. */
  void drainTo(Collection<DueEntry> all) {
    all.addAll(entries);
    entries.clear();
    ascending.clear();
  }
}
