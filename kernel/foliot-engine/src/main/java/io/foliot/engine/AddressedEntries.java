package io.foliot.engine;

import io.foliot.core.Address;
import io.foliot.core.store.DueEntry;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The addressed entries of a lane, grouped by address. Only the workers that an address permits may run its tasks. An
 * address whose workers are busy delays no other address. Confined to the loop's thread.
 */
final class AddressedEntries {
  private final Map<Address, EntryQueue> byAddress = new LinkedHashMap<>();
  private int size;
  /** Whether no worker waited for any of the entries when the waiters and the seating were those of the next fields. */
  private boolean isInVain;
  private long changesInVain;
  private Seating seatingInVain = Seating.UNKNOWN;
  private long asked;

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
    isInVain = false;
  }

  /**
   * Takes the next entry that a waiting worker may run, and reserves that worker. Returns null if there is no such
   * entry. The addresses take turns. An address for which no worker waits goes to the end of the turn, so that a
   * sequence of calls asks for each such address once, and not once for each entry that is taken.
   */
  @Nullable
  Matched match(LongPollQueue longPolls, Seating seating) {
    long changes = longPolls.changes();
    if (isInVain && changes == changesInVain && seating == seatingInVain) {
      return null;
    }
    for (int left = byAddress.size(); left > 0; left--) {
      Map.Entry<Address, EntryQueue> first = byAddress.entrySet().iterator().next();
      Address address = first.getKey();
      EntryQueue entries = first.getValue();
      asked++;
      LongPollQueue.Waiter waiter = longPolls.reserve(seating, address);
      DueEntry entry = waiter == null ? null : entries.poll();
      if (waiter == null || entries.size() == 0) {
        byAddress.remove(address);
        if (entries.size() > 0) {
          byAddress.put(address, entries);
        }
      }
      if (waiter != null && entry != null) {
        size--;
        return new Matched(entry, waiter);
      }
    }
    isInVain = true;
    changesInVain = changes;
    seatingInVain = seating;
    return null;
  }

  /** Returns how often a waiting worker was sought for an address. Tests use it to bound the cost of a turn. */
  long asked() {
    return asked;
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

  /** Appends the next entries, at most {@code most}, to a collection, whether or not they were examined before. */
  void examineAgain(Collection<DueEntry> to, int most) {
    int limit = to.size() + most;
    byAddress.values().forEach(entries -> entries.examineAgain(to, limit - to.size()));
  }

  /** Makes {@link #examineAgain} begin with the first entries. */
  void restart() {
    byAddress.values().forEach(EntryQueue::restart);
  }

  /** Appends entries that were not examined before, at most {@code most}, to a collection. They stay here. */
  void examine(Collection<DueEntry> to, int most) {
    int limit = to.size() + most;
    byAddress.values().forEach(entries -> entries.examine(to, limit - to.size()));
  }

  /** Removes the entries that a set contains, and appends them to a collection. */
  void remove(Set<DueEntry> which, Collection<DueEntry> to) {
    int before = to.size();
    byAddress.values().removeIf(entries -> {
      entries.remove(which, to);
      return entries.size() == 0;
    });
    size -= to.size() - before;
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
