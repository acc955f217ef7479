package io.foliot.core.store;

import io.foliot.core.TaskId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Corrects the counts of a store that counts tasks by their stored state. A task whose lease has ended is stored as
 * RUNNING until its next claim, although the task waits. Thread-safe.
 *
 * <p>Such a task is due, so its entry is among the first entries of the index or among the parked ones. A count
 * examines a bounded number of these entries, and reads the leases only for queues with running tasks. Counts are
 * seldom made, and no commit does extra work for them.
 */
public final class EndedLeases {
  /**
   * Maximum number of slot entries that one count reads; a count also reads at most this many parked entries. Reading
   * this many entries takes some tens of milliseconds. A count reads at least one entry of each slot and queue, even if
   * this exceeds the maximum.
   */
  private static final int MAX_EXAMINED = 20_000;
  /** Maximum number of ids of one call that reads the ends of leases. */
  private static final int MAX_PER_CALL = 1_000;
  /** Shortest time from the start of one count to the next, as a multiple of the duration of the earlier count. */
  private static final int REST = 20;

  private record Counted(Map<String, Long> ended, long atNanos, long tookNanos) {
    boolean isFresh(long nowNanos) {
      return nowNanos - atNanos < REST * tookNanos;
    }
  }

  private final TaskStore store;
  private final Function<List<TaskId>, CompletionStage<List<Long>>> leaseEnds;
  private final LongSupplier nanos;
  // written by the call that counts, read by any thread
  private volatile @Nullable Counted last;

  /**
   * Creates a corrector for the counts of a store.
   *
   * @param leaseEnds returns the lease ends of tasks in milliseconds since 1970, in the order of the ids; {@link
   *     Long#MIN_VALUE} for a task that is not RUNNING
   * @param nanos a monotonic clock, in nanoseconds
   */
  public EndedLeases(TaskStore store, Function<List<TaskId>, CompletionStage<List<Long>>> leaseEnds,
      LongSupplier nanos) {
    this.store = store;
    this.leaseEnds = leaseEnds;
    this.nanos = nanos;
  }

  /**
   * Corrects counts: a task whose lease has ended is counted as delayed, not as running. The numbers of such tasks may
   * come from an earlier call.
   */
  public CompletionStage<Map<String, QueueCounts>> correct(Map<String, QueueCounts> counts) {
    Set<String> queues = new TreeSet<>();
    counts.forEach((queue, numbers) -> {
      if (numbers.running() > 0) {
        queues.add(queue);
      }
    });
    long startNanos = nanos.getAsLong();
    Counted known = last;
    if (queues.isEmpty()) {
      return CompletableFuture.completedFuture(counts);
    }
    if (known != null && known.isFresh(startNanos)) {
      return CompletableFuture.completedFuture(corrected(counts, known.ended()));
    }
    return store.timeMicros(0).thenCompose(micros -> count(queues, counts, Math.floorDiv(micros, 1_000)))
        .thenApply(ended -> {
          last = new Counted(ended, startNanos, nanos.getAsLong() - startNanos);
          return corrected(counts, ended);
        });
  }

  private static Map<String, QueueCounts> corrected(Map<String, QueueCounts> counts, Map<String, Long> ended) {
    if (ended.isEmpty()) {
      return counts;
    }
    Map<String, QueueCounts> corrected = new HashMap<>(counts);
    ended.forEach((queue, leases) -> corrected.computeIfPresent(queue,
        (name, numbers) -> numbers.ended(Math.min(leases, numbers.running()))));
    return corrected;
  }

  private CompletionStage<Map<String, Long>> count(Set<String> queues, Map<String, QueueCounts> counts,
      long nowMillis) {
    int slotCount = store.slotCount();
    int perSlot = Math.max(1, MAX_EXAMINED / slotCount);
    List<DueScan> scans = IntStream.range(0, slotCount)
        .mapToObj(slot -> new DueScan(slot, Long.MIN_VALUE, null, nowMillis, perSlot)).toList();
    CompletionStage<List<DueEntry>> found = store.due(scans)
        .thenApply(slices -> new ArrayList<>(slices.stream().flatMap(slice -> slice.entries().stream())
            .filter(entry -> queues.contains(entry.queue())).toList()));
    int perQueue = Math.max(1, MAX_EXAMINED / queues.size());
    for (String queue : queues) {
      if (counts.getOrDefault(queue, QueueCounts.NONE).parked() > 0) {
        found = found.thenCombine(store.parked(queue, SlotSet.all(slotCount), null, perQueue),
            EndedLeases::joined);
      }
    }
    return found.thenCompose(entries -> ended(entries, 0, nowMillis, new HashMap<>()));
  }

  private static List<DueEntry> joined(List<DueEntry> some, List<DueEntry> others) {
    some.addAll(others);
    return some;
  }

  private CompletionStage<Map<String, Long>> ended(List<DueEntry> entries, int from, long nowMillis,
      Map<String, Long> ended) {
    if (from >= entries.size()) {
      return CompletableFuture.completedFuture(ended);
    }
    List<DueEntry> some = entries.subList(from, Math.min(entries.size(), from + MAX_PER_CALL));
    return leaseEnds.apply(some.stream().map(DueEntry::id).toList()).thenCompose(ends -> {
      for (int i = 0; i < ends.size(); i++) {
        if (ends.get(i) != Long.MIN_VALUE && ends.get(i) <= nowMillis) {
          ended.merge(some.get(i).queue(), 1L, Long::sum);
        }
      }
      return ended(entries, from + MAX_PER_CALL, nowMillis, ended);
    });
  }
}
