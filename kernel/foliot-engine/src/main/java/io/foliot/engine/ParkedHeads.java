package io.foliot.engine;

import io.foliot.core.Stages;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The wakeAt of the oldest parked task of each queue, read from the store. This node knows it no matter which node
 * parked the task, and knows it after a restart too. Alerts about a queue that is paused, throttled or not served
 * depend on this time.
 *
 * <p>Once a second the queues with parked tasks are listed, unless earlier reads are still under way. Then the first
 * parked entry of some of these queues is read. Queues that were never read come first, and then those that were read
 * longest ago. If one second is too short to read all these queues, a wakeAt may be as old as one round over all of
 * them.
 */
final class ParkedHeads {
  /** Maximum number of first entries that are read in a second. */
  private static final int READS_PER_SECOND = 256;
  /** Maximum number of these reads at the same time: some of the store's connections stay free. */
  private static final int READS_AT_ONCE = 4;

  private final TaskStore store;
  private final Inbox inbox;

  // written by the loop's thread, read by any thread
  private final ConcurrentMap<String, Long> wakeAts = new ConcurrentHashMap<>();

  // the loop's thread
  /** The queues that were read, the one read longest ago first. */
  private final SequencedSet<String> known = new LinkedHashSet<>();
  private final Deque<String> toRead = new ArrayDeque<>();
  private boolean listing;
  private int reading;

  ParkedHeads(TaskStore store, Inbox inbox) {
    this.store = store;
    this.inbox = inbox;
  }

  /** Returns by how much the oldest parked task of a queue is overdue, in ms; 0 if none is overdue. */
  long overdueMillis(String queue, long nowMillis) {
    Long wakeAt = wakeAts.get(queue);
    return wakeAt == null ? 0 : Math.max(0, nowMillis - wakeAt);
  }

  /** Returns by how much the oldest parked task of all queues is overdue, in ms; 0 if none is overdue. */
  long overdueMillis(long nowMillis) {
    return wakeAts.values().stream().mapToLong(wakeAt -> nowMillis - wakeAt).reduce(0, Math::max);
  }

  /** Lists the queues with parked tasks and reads some of them; called once a second, on the loop's thread. */
  void turn() {
    if (listing || reading > 0) {
      return;
    }
    listing = true;
    inbox.after(Stages.call(() -> store.parkedQueues(SlotSet.all(store.slotCount()))), (queues, failure, nowNanos) -> {
      listing = false;
      if (queues != null) {
        listed(queues);
      }
    });
  }

  private void listed(Set<String> queues) {
    known.retainAll(queues);
    wakeAts.keySet().retainAll(queues);
    List<String> order = new ArrayList<>(queues.stream().filter(queue -> !known.contains(queue)).toList());
    order.addAll(known);
    toRead.clear();
    toRead.addAll(order.subList(0, Math.min(READS_PER_SECOND, order.size())));
    while (reading < READS_AT_ONCE && !toRead.isEmpty()) {
      reading++;
      readNext();
    }
  }

  private void readNext() {
    String queue = toRead.poll();
    if (queue == null) {
      reading--;
      return;
    }
    inbox.after(Stages.call(() -> store.parked(queue, SlotSet.all(store.slotCount()), null, 1)),
        (entries, failure, nowNanos) -> {
          if (entries != null) {
            known.addLast(queue);
            if (entries.isEmpty()) {
              wakeAts.remove(queue);
            } else {
              wakeAts.put(queue, entries.getFirst().wakeAt());
            }
          }
          readNext();
        });
  }
}
