package io.foliot.engine;

import io.foliot.core.Meter;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.SlotSet;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The slots that one loop watches: the loop prefetches their entries and polls their heads. This class also makes the
 * overdue poll of the other slots of the loop's share. Passive; confined to the loop's thread, except {@link
 * #assignedCount}.
 *
 * <p>Guarantees: the loop watches the slots of its share that the assignment gives to this node, and the slots that the
 * {@link OverduePoll} has adopted. Each additional slot is reported once to the {@link Listener}.
 *
 * <ol>
 * <li>The share of a loop is fixed at the start. When the store doubles its slots, each slot of the share becomes two
 * slots.
 * <li>{@link #own} takes a new assignment.
 * <li>{@link #poll} reads the oldest entry of each other slot, once a second, and hands the orphaned entries to the
 * lanes.
 * <li>{@link #decided} records the result of a claim, which may end an adoption.
 * </ol>
 *
 * <p>Rejected: trusting the assignment. A node that is dead, disconnected or stalled keeps its slots in the assignment.
 */
final class WatchedSlots {
  private static final System.Logger LOG = System.getLogger(WatchedSlots.class.getName());

  /** Receives additional slots to read. */
  interface Listener {
    /** Called when the store has doubled its slots: each slot has become two slots. */
    void doubled(int slotCountBefore);

    /** Called when these slots are watched from now on, and were not before. */
    void added(SlotSet slots, long nowNanos);
  }

  private final IndexReads reads;
  private final StoreHealth health;
  private final Lanes lanes;
  private final Meter meter;
  private final Listener listener;
  private final OverduePoll overdue;
  private final int enoughWaiting;
  private boolean polling;

  private SlotSet share;
  private SlotSet watched;
  private boolean isSharedStore;
  // written by the loop's thread, read by any
  private volatile SlotSet assigned;

  /**
   * Creates an instance that watches the whole share until the first assignment.
   *
   * @param enoughWaiting the loop is regarded as busy while its lanes have at least this many entries
   */
  WatchedSlots(SlotSet share, OverduePoll overdue, IndexReads reads, StoreHealth health, Lanes lanes, Meter meter,
      Listener listener, int enoughWaiting) {
    this.share = share;
    watched = share;
    assigned = share;
    this.overdue = overdue;
    this.reads = reads;
    this.health = health;
    this.lanes = lanes;
    this.meter = meter;
    this.listener = listener;
    this.enoughWaiting = enoughWaiting;
  }

  /** Returns how many slots of the loop's share the assignment gives to this node. Any thread may call this method. */
  int assignedCount() {
    return assigned.size();
  }

  /** Returns the slots of which the loop is in charge in its node, whichever node has them. */
  SlotSet share() {
    return share;
  }

  /** Returns the slots that the loop watches. */
  SlotSet watched() {
    return watched;
  }

  /** Returns whether slots of the loop's share belong to other nodes. */
  private boolean hasOthers() {
    return assigned.size() < share.size();
  }

  /** Returns whether other nodes have slots of the store, inside or outside this loop's share. */
  boolean sharesStore() {
    return isSharedStore;
  }

  boolean isAssigned(TaskId id) {
    return assigned.contains(id);
  }

  /** Returns for each queue by how many milliseconds its oldest entry in the slots of other nodes is overdue. */
  Map<String, Long> overdueElsewhere(long nowMillis) {
    return overdue.overdueMillis(watched, nowMillis);
  }

  /**
   * Watches the owned slots of the share from now on, and other slots only if they are adopted.
   *
   * @param assignment the assignment, with the owners of the other slots
   * @param adoption whether slots of other nodes may be adopted
   */
  void own(SlotSet owned, Assignment assignment, OverduePoll.Adoption adoption, long nowNanos) {
    growTo(owned.slotCount());
    SlotSet now = share.and(owned);
    int kept = now.and(assigned).size();
    meter.slotsChanged(now.size() - kept, assigned.size() - kept);
    assigned = now;
    isSharedStore = owned.size() < owned.slotCount();
    overdue.assigned(assignment, now, adoption, nowNanos);
    update(nowNanos);
  }

  /** Watches the assigned and adopted slots from now on. */
  private void update(long nowNanos) {
    SlotSet now = assigned.or(overdue.adopted(nowNanos));
    if (now.equals(watched)) {
      return;
    }
    BitSet added = new BitSet();
    for (int slot = now.next(0); slot >= 0; slot = now.next(slot + 1)) {
      if (!watched.contains(slot)) {
        added.set(slot);
      }
    }
    watched = now;
    if (!added.isEmpty()) {
      listener.added(SlotSet.of(now.slotCount(), added), nowNanos);
    }
  }

  /** Follows the store, which may double its slots at any time. */
  void growTo(int slotCount) {
    while (watched.slotCount() < slotCount) {
      int before = watched.slotCount();
      share = share.doubled();
      assigned = assigned.doubled();
      watched = watched.doubled();
      overdue.grow(share.slotCount());
      LOG.log(System.Logger.Level.INFO, "the store has doubled its slots: slots={0}", watched.slotCount());
      listener.doubled(before);
    }
  }

  /**
   * Reads the oldest entries of slots that are not watched, once a second, or more often while the {@link OverduePoll}
   * drains such slots.
   */
  void poll(long nowMillis, long nowNanos) {
    if (polling || !overdue.isDue(nowNanos) || !hasOthers()) {
      return;
    }
    update(nowNanos);
    List<DueScan> scans = overdue.begin(share, watched, nowMillis, nowNanos);
    if (!scans.isEmpty()) {
      polling = true;
      reads.read(scans, (slices, failure, answeredNanos) -> {
        polling = false;
        if (health.called("overdue", scans.size(), nowNanos, failure, answeredNanos)) {
          polled(slices, answeredNanos);
        }
      });
    }
  }

  private void polled(@Nullable List<DueSlice> slices, long nowNanos) {
    if (slices != null) {
      boolean isBusy = lanes.waiting() >= enoughWaiting;
      for (DueEntry entry : overdue.taken(slices, watched, isBusy, nowNanos)) {
        lanes.found(entry, nowNanos);
      }
      update(nowNanos);
    }
  }

  /** Records the result of the claim of a task. It matters only in a slot that is not assigned to this node. */
  void decided(TaskId id, boolean won, long nowNanos) {
    int slot = id.slot(watched.slotCount());
    if (!assigned.contains(slot) && overdue.claimed(slot, won, nowNanos)) {
      update(nowNanos);
    }
  }
}
