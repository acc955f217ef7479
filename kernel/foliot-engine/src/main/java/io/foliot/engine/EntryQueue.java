package io.foliot.engine;

import io.foliot.core.store.DueEntry;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
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

  /** Moves all entries to the end of a collection. */
  void drainTo(Collection<DueEntry> all) {
    all.addAll(entries);
    entries.clear();
    ascending.clear();
  }
}
