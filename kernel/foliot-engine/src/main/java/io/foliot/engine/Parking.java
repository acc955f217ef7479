package io.foliot.engine;

import io.foliot.core.Meter;
import io.foliot.core.Stages;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskStore;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parked tasks: entries of full or unserved lanes, which the store keeps in a range of their queue. Passive; confined
 * to the loop's thread.
 *
 * <p>Guarantees: an entry in the overflow of the {@link Lanes} leaves the common index as fast as the store can park
 * entries, so that it delays no other queue. A lane with few entries reads parked entries. The queues with parked tasks
 * are known within seconds, even if other nodes parked the tasks.
 *
 * <ol>
 * <li>{@link #park} sends the overflow in batches, one call at a time. Entries whose parking failed are forgotten; a
 * poll or a read of parked entries finds them again. Entries that the store does not park go to the {@link LeaseEnds}.
 * <li>{@link #listQueues} reads which queues have parked tasks, once a second. Other nodes may park due tasks that only
 * this node can run, because this node has handlers that the others lack, or workers that wait. In this case the reads
 * are more frequent, but take only a small part of the store's time.
 * <li>{@link #readBack} reads a page of parked entries for each lane with few entries. It begins with this node's own
 * slots ({@link Lane#readParked}).
 * </ol>
 *
 * <p>Rejected: leaving entries in the index. Each head poll would read all of them again, before the due tasks of other
 * queues.
 */
final class Parking {
  private static final System.Logger LOG = System.getLogger(Parking.class.getName());
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int UNDER_WAY = 1;
  /** Maximum number of parked ids read at a time. */
  private static final int PAGE = 1_000;
  private static final long LIST_NANOS = 1_000 * NANOS_PER_MILLI;
  /**
   * Longest pause between two reads of the queues with parked tasks. It is short, because such tasks may wait for this
   * node alone.
   */
  private static final long LIST_REST_NANOS = 3_000 * NANOS_PER_MILLI;
  /** Interval of these reads if other nodes may park tasks that this node alone can deliver. */
  private static final long LIST_SOON_NANOS = 100 * NANOS_PER_MILLI;
  /** Pause after one of these reads, in multiples of its duration. */
  private static final int LIST_REST = 20;
  /** Pause of a lane at the end of its parked tasks, before it reads them from the beginning again. */
  private static final long AGAIN_NANOS = 100 * NANOS_PER_MILLI;

  private final TaskStore store;
  private final QueueRegistry registry;
  private final Lanes lanes;
  private final Inbox inbox;
  private final Meter meter;
  private final LeaseEnds leaseEnds;
  private final CallPipe parks;
  private final int batch;
  private final int low;
  private boolean listing;
  private long listedNanos;
  private long restUntilNanos;

  /**
   * Creates the parking of these lanes.
   *
   * @param leaseEnds receives the entries that the store does not park
   * @param batch the maximum number of entries that one call parks
   * @param low a lane with fewer entries without an address than this reads parked entries; this is as many as one call
   *     claims
   */
  Parking(TaskStore store, QueueRegistry registry, Lanes lanes, Inbox inbox, StoreHealth health, Meter meter,
      LeaseEnds leaseEnds, int batch, int low, long nowNanos) {
    this.leaseEnds = leaseEnds;
    this.store = store;
    this.registry = registry;
    this.lanes = lanes;
    this.inbox = inbox;
    this.meter = meter;
    this.batch = batch;
    this.low = low;
    parks = new CallPipe("park", UNDER_WAY, CallPipe.Effect.WRITE, new Backoff(), inbox, health);
    listedNanos = nowNanos - LIST_NANOS;
    restUntilNanos = nowNanos;
  }

  /** Parks a batch of the overflow. */
  void park(long nowNanos) {
    if (!lanes.hasOverflow() || !parks.hasRoom(nowNanos)) {
      return;
    }
    List<DueEntry> entries = lanes.takeOverflow(batch, nowNanos);
    if (!entries.isEmpty()) {
      parks.send(entries.size(), nowNanos, () -> store.park(entries),
          lanes.orForget(entries, (parked, answeredNanos) -> parked(entries, parked, answeredNanos)));
    }
  }

  private void parked(List<DueEntry> entries, List<@Nullable Boolean> results, long nowNanos) {
    for (int i = 0; i < entries.size(); i++) {
      DueEntry entry = entries.get(i);
      Boolean parked = results.get(i);
      if (parked == null) {
        lanes.forget(entry);
        continue;
      }
      if (!parked) {
        leaseEnds.add(entry);
      } else {
        lanes.leave(entry);
        Lane lane = lanes.lane(entry.queue(), nowNanos);
        lane.parked();
        meter.parked(entry.queue(), 1);
        if (lane.lacksDelivery()) {
          unserved(lane);
        }
      }
    }
  }

  private void unserved(Lane lane) {
    meter.unserved(lane.name(), 1);
    if (lane.logsLackOfDelivery()) {
      LOG.log(System.Logger.Level.WARNING,
          "this node has no handler for a queue with due tasks; they are parked until a node has one: queue={0}",
          lane.name());
    }
  }

  /**
   * Reads which queues have parked tasks, once the interval and the pause after the previous read are over.
   *
   * @param watched the slots of the loop's share that this node has
   * @param share the slots of which this loop is in charge in its node
   */
  void listQueues(SlotSet watched, SlotSet share, long nowNanos) {
    boolean soon = (registry.isSelective() && watched.size() < share.size()) || lanes.arePolledInVain();
    long everyNanos = soon ? LIST_SOON_NANOS : LIST_NANOS;
    if (listing || nowNanos - listedNanos < everyNanos || nowNanos - restUntilNanos < 0) {
      return;
    }
    listing = true;
    inbox.after(Stages.call(() -> store.parkedQueues(SlotSet.all(share.slotCount()))),
        (queues, failure, endNanos) -> {
          listing = false;
          listedNanos = nowNanos;
          // A call that timed out does not show the cost of a read.
          long restNanos = queues == null ? 0 : Math.min(LIST_REST_NANOS, LIST_REST * (endNanos - nowNanos));
          restUntilNanos = endNanos + restNanos;
          if (queues != null) {
            listed(queues, endNanos);
          }
        });
  }

  private void listed(Set<String> queues, long nowNanos) {
    registry.missing().parked(queues, queue -> registry.queue(queue) != null);
    queues.forEach(queue -> lanes.lane(queue, nowNanos).parked());
  }

  /** Reads parked entries for lanes that have few. The slots are those of {@link #listQueues}. */
  void readBack(SlotSet watched, SlotSet share, long nowNanos) {
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.at(i);
      int page = lane.needsParked(nowNanos, low) ? lanes.parkedPage(lane, PAGE) : 0;
      if (page > 0) {
        readBack(lane, page, watched, share, nowNanos);
      }
    }
  }

  /** Returns the time until {@link #readBack} reads a page of a lane; {@link Long#MAX_VALUE} if no lane needs one. */
  long waitNanos(long nowNanos) {
    long waitNanos = Long.MAX_VALUE;
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.at(i);
      long laneNanos = lane.parkedWaitNanos(nowNanos, low);
      if (laneNanos < waitNanos && lanes.parkedPage(lane, PAGE) > 0) {
        waitNanos = laneNanos;
      }
    }
    return waitNanos;
  }

  private void readBack(Lane lane, int page, SlotSet watched, SlotSet share, long nowNanos) {
    boolean sharesSlots = watched.size() > 0 && watched.size() < share.size();
    SlotSet from = lane.readParked(sharesSlots, nowNanos) == Lane.ParkedOf.OWN ? watched : share;
    if (from.size() == 0) {
      // There are more loops than slots.
      lane.parkedReadEnded(null, null, nowNanos + AGAIN_NANOS);
      return;
    }
    inbox.after(Stages.call(() -> store.parked(lane.name(), from, lane.parkedCursor(), page)),
        (entries, failure, endNanos) -> {
          if (entries == null) {
            lane.parkedReadFailed(endNanos + Backoff.LAST_NANOS);
            return;
          }
          entries.forEach(entry -> lanes.unparked(lane, entry));
          DueEntry first = entries.isEmpty() ? null : entries.getFirst();
          DueEntry last = entries.isEmpty() ? null : entries.getLast();
          lane.parkedReadEnded(first, last, endNanos + AGAIN_NANOS);
        });
  }
}
