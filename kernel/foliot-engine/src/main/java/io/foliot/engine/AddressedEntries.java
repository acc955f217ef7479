package io.foliot.engine;

import io.foliot.core.Address;
import io.foliot.core.store.DueEntry;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a lane that only some workers may run, by their addresses. An address whose workers are busy delays no
 * other address. The loop's thread.
 */
final class AddressedEntries {
  private final Map<Address, EntryQueue> byAddress = new LinkedHashMap<>();
  private int size;

  /** An entry, and the worker that gets it. */
  record Matched(DueEntry entry, LongPollQueue.Waiter waiter) {}

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  void add(DueEntry entry) {
    byAddress.computeIfAbsent(entry.id().address(), none -> new EntryQueue()).add(entry);
    size++;
  }

  /** Takes the next entry for which a worker waits, and promises it to that worker; null if there is none. */
  @Nullable
  Matched match(LongPollQueue longPolls, Seating seating, String queue) {
    Iterator<Map.Entry<Address, EntryQueue>> each = byAddress.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry<Address, EntryQueue> next = each.next();
      LongPollQueue.Waiter waiter = longPolls
          .reserve(waits -> seating.serves(waits.worker(), queue, next.getKey()));
      DueEntry entry = waiter == null ? null : next.getValue().poll();
      if (waiter != null && entry != null) {
        size--;
        if (next.getValue().size() == 0) {
          each.remove();
        }
        return new Matched(entry, waiter);
      }
    }
    return null;
  }

  /** Moves the entries of some addresses to the end of a collection. */
  void drain(Predicate<Address> which, Collection<DueEntry> to) {
    byAddress.entrySet().removeIf(each -> {
      if (!which.test(each.getKey())) {
        return false;
      }
      size -= each.getValue().size();
      each.getValue().drainTo(to);
      return true;
    });
  }

  /** Returns the least wakeAt, or {@link Long#MAX_VALUE} if there is no entry. */
  long oldest() {
    long oldest = Long.MAX_VALUE;
    for (EntryQueue entries : byAddress.values()) {
      oldest = Math.min(oldest, entries.oldest());
    }
    return oldest;
  }
}
