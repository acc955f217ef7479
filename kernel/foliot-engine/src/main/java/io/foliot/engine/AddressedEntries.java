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
 * The addressed entries of a lane, grouped by address. Only the workers that an address permits may run its tasks. An
 * address whose workers are busy delays no other address. Confined to the loop's thread.
 */
final class AddressedEntries {
  private final Map<Address, EntryQueue> byAddress = new LinkedHashMap<>();
  private int size;

  /** An entry, and the waiting worker that gets its task. */
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

  /**
   * Takes the next entry that a waiting worker may run, and reserves that worker. Returns null if there is no such
   * entry.
   */
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

  /** Removes the entries of each matching address, and appends them to a collection. */
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

  /** Returns the earliest wakeAt of all entries, or {@link Long#MAX_VALUE} if there is no entry. */
  long oldest() {
    long oldest = Long.MAX_VALUE;
    for (EntryQueue entries : byAddress.values()) {
      oldest = Math.min(oldest, entries.oldest());
    }
    return oldest;
  }
}
