package io.foliot.engine;

import io.foliot.core.store.DueEntry;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Entries in the order of their coming, with the least wakeAt among them at hand. */
final class EntryQueue {
  private final Deque<DueEntry> entries = new ArrayDeque<>();
  /** Of the entries those behind which none is older: their wakeAts ascend, and the first one is the least of all. */
  private final Deque<DueEntry> ascending = new ArrayDeque<>();

  void add(DueEntry entry) {
    entries.add(entry);
    while (!ascending.isEmpty() && ascending.getLast().wakeAt() > entry.wakeAt()) {
      ascending.removeLast();
    }
    ascending.add(entry);
  }

  /** The first, or null. */
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

  /** The least wakeAt, or {@link Long#MAX_VALUE}. */
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
