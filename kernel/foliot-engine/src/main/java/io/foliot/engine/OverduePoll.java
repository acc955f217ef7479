package io.foliot.engine;

import io.foliot.core.coordination.Assignment;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.SlotSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The poll for tasks that are overdue by at least a second, in slots of other nodes. It also chooses the tasks that
 * this node takes.
 *
 * <p>A slot is regarded as orphaned if one of its oldest entries is the same in two polls. It need not be the very
 * oldest one: callers move entries as well, for example by touching their tasks, and must not hide the entries behind
 * them. This node then drains the slot for as long as it wins claims there. But the owner may have a backlog, and may
 * not have reached the slot yet. So the owner is regarded as active while the oldest entries of its other slots change.
 * The slots of an active owner are regarded as orphaned only after 5 s, or after 30 s if this node is busy itself.
 *
 * <p>While the coordinator is unavailable no new assignment gives the slots of a dead node to others. Then an orphaned
 * slot is <em>adopted</em>: the loop reads it like its own, ahead and from the head. The nodes that may adopt a slot
 * have an {@linkplain Assignment#helpersBefore order}. Each waits one poll longer than the node before it, so that two
 * nodes seldom adopt the same slot. An adoption ends when a newer assignment is read, or at the latest 10 s after the
 * coordinator answers again. It also ends when too many claims in the slot are lost, because then the owner or another
 * node claims there too. But claims also fail where tasks are cancelled or pushed back. So if the node gives up a slot
 * and soon adopts the slot again, the results of claims there have no effect until a minute has passed since the node
 * gave up the slot.
 *
 * <p>Confined to the loop's thread.
 */
final class OverduePoll {
  /** The rule for the adoption of slots of other nodes. */
  enum Adoption {
    /** Orphaned slots may be adopted: the coordinator does not answer. */
    ALLOWED,
    /**
     * No further slot is adopted, and adopted slots are kept for at most 10 s: the coordinator answers again, and the
     * slots will be assigned soon.
     */
    ENDING,
    /** No slot is adopted, and adopted slots are given up: this node must not have any slots. */
    FORBIDDEN
  }

  /** An entry this overdue in another node's slot may be orphaned. */
  private static final long OVERDUE_MILLIS = 1_000;

  /** Number of entries of a slot that a poll reads, unless the slot is being drained. */
  private static final int REMEMBERED = 8;

  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final long EVERY_NANOS = NANOS_PER_SECOND;
  /** Interval between two polls of a slot that is being drained. */
  private static final long SOON_NANOS = NANOS_PER_SECOND / 10;
  /** An owner that has made progress within this time is regarded as active. */
  private static final long AT_WORK_NANOS = 2 * NANOS_PER_SECOND;
  /** Time that an overdue entry is left to an owner that is still making progress. */
  private static final long PATIENCE_NANOS = 5 * NANOS_PER_SECOND;
  /** Replaces {@link #PATIENCE_NANOS} while this node is busy itself. */
  private static final long BUSY_PATIENCE_NANOS = 30 * NANOS_PER_SECOND;
  /**
   * Maximum number of polls that a helper waits for the helpers before it. Without this limit the wait could be long:
   * in a large cluster most of these helpers may be gone.
   */
  private static final int MAX_HELPERS_BEFORE = 8;
  /**
   * Time for two steps after the coordinator's first answer: the coordinator notices each dead member, and the leader
   * assigns the slots of these members.
   */
  private static final long ENDING_NANOS = 10 * NANOS_PER_SECOND;
  /** Number of claims in an adopted slot before their results are judged. */
  private static final int MIN_CLAIMS = 16;
  /** Weight of the latest claim in the share of claims that were not won. */
  private static final double NEWEST = 1.0 / MIN_CLAIMS;
  /** Threshold of the share of claims that were not won: above it, another node is assumed to claim in the slot. */
  private static final double MANY_NOT_WON = 0.25;
  /** Minimum time from giving up a slot to giving up the same slot again. */
  private static final long PROVEN_NANOS = 60 * NANOS_PER_SECOND;

  /** The results of the claims of an adopted slot. */
  private static final class Claims {
    private int count;
    private double notWonShare;

    boolean isDoubtful(boolean won) {
      count++;
      notWonShare += ((won ? 0 : 1) - notWonShare) * NEWEST;
      return count >= MIN_CLAIMS && notWonShare > MANY_NOT_WON;
    }
  }

  private final String node;
  private final int page;
  /**
   * The oldest entries of each slot at the latest poll, at most {@link #REMEMBERED}, each with the time of the poll
   * that first returned it.
   */
  private final Map<Integer, Map<DueEntry, Long>> seenNanos = new HashMap<>();
  /** The orphaned slots that are being drained. */
  private final BitSet stealing = new BitSet();
  private final Map<Integer, Claims> adopted = new HashMap<>();
  /** The slots that were given up, each with the earliest time at which it may be given up again. */
  private final Map<Integer, Long> provenUntilNanos = new HashMap<>();
  private Adoption adoption = Adoption.FORBIDDEN;
  private long endNanos;
  private final Map<String, Long> atWorkNanos = new HashMap<>();
  /** For each slot, its oldest entry at the latest poll. */
  private @Nullable DueEntry[] heads;
  private Assignment assignment;
  private long nextNanos;

  /**
   * Creates a poll without an assignment.
   *
   * @param node this node's name
   * @param page how many entries to read of a slot that is being drained
   */
  OverduePoll(String node, int slotCount, int page, long nowNanos) {
    this.node = node;
    this.page = page;
    heads = new DueEntry[slotCount];
    assignment = Assignment.none(slotCount);
    nextNanos = nowNanos + EVERY_NANOS;
  }

  /** Follows the doubling of the slots: each slot has become two slots. */
  void grow(int slotCount) {
    int before = heads.length;
    heads = Arrays.copyOf(heads, slotCount);
    List.copyOf(adopted.keySet()).forEach(slot -> adopted.put(slot + before, new Claims()));
  }

  /**
   * Sets the owners of the slots from now on.
   *
   * @param mine the slots of this node by the new assignment
   */
  void assigned(Assignment newAssignment, SlotSet mine, Adoption newAdoption, long nowNanos) {
    if (newAdoption == Adoption.FORBIDDEN || !newAssignment.equals(assignment)) {
      adopted.clear();
    }
    if (newAdoption == Adoption.ENDING && adoption != Adoption.ENDING) {
      endNanos = nowNanos + ENDING_NANOS;
    }
    adoption = newAdoption;
    assignment = newAssignment;
    atWorkNanos.keySet().removeIf(owner -> newAssignment.slotsOf(owner).isEmpty());
    for (int slot = mine.next(0); slot >= 0; slot = mine.next(slot + 1)) {
      stealing.clear(slot);
      adopted.remove(slot);
    }
  }

  /** Returns the slots of other nodes that are to be read like this node's own. */
  SlotSet adopted(long nowNanos) {
    if (adoption == Adoption.ENDING && nowNanos - endNanos >= 0) {
      adopted.clear();
    }
    BitSet slots = new BitSet();
    adopted.keySet().forEach(slots::set);
    return SlotSet.of(heads.length, slots);
  }

  /**
   * Records the result of a claim in a slot. A lost claim may mean that another node claims there.
   *
   * @return whether the slot was adopted, and is now given up
   */
  boolean claimed(int slot, boolean won, long nowNanos) {
    if (!won) {
      stealing.clear(slot);
    }
    Claims claims = adopted.get(slot);
    if (claims == null || !claims.isDoubtful(won) || isProven(slot, nowNanos)) {
      return false;
    }
    adopted.remove(slot);
    provenUntilNanos.put(slot, nowNanos + PROVEN_NANOS);
    return true;
  }

  private boolean isProven(int slot, long nowNanos) {
    Long untilNanos = provenUntilNanos.get(slot);
    return untilNanos != null && nowNanos - untilNanos < 0;
  }

  boolean isDue(long nowNanos) {
    return nowNanos - nextNanos >= 0;
  }

  /**
   * Returns the scans of this poll, one for each slot of the share that this node does not watch. A scan reads a
   * few entries, or a page of entries if the slot is being drained.
   *
   * @param mine the slots that this node watches: those of the assignment, and the adopted ones
   */
  List<DueScan> begin(SlotSet share, SlotSet mine, long now, long nowNanos) {
    nextNanos = nowNanos + EVERY_NANOS;
    List<DueScan> scans = new ArrayList<>();
    for (int slot = share.next(0); slot >= 0; slot = share.next(slot + 1)) {
      if (!mine.contains(slot)) {
        scans
            .add(new DueScan(slot, Long.MIN_VALUE, null, now - OVERDUE_MILLIS, stealing.get(slot) ? page : REMEMBERED));
      }
    }
    return scans;
  }

  /**
   * Returns the entries to take among those that were read.
   *
   * @param mine the slots that this node watches, as in {@link #begin}
   * @param isBusy whether this node is busy itself: the lanes of this loop hold enough entries for a batch of claims
   */
  List<DueEntry> taken(List<DueSlice> slices, SlotSet mine, boolean isBusy, long nowNanos) {
    for (DueSlice slice : slices) {
      DueEntry before = heads[slice.slot()];
      String owner = assignment.owner(slice.slot());
      if (owner != null && before != null && isMovedByOwner(slice.slot()) && !before.equals(first(slice))) {
        atWorkNanos.put(owner, nowNanos);
      }
    }
    List<DueEntry> taken = new ArrayList<>();
    for (DueSlice slice : slices) {
      int slot = slice.slot();
      DueEntry first = first(slice);
      if (first == null || mine.contains(slot)) {
        stealing.clear(slot);
      } else if (stealing.get(slot) || isOrphaned(slice, isBusy, nowNanos)) {
        taken.addAll(stealing.get(slot) ? slice.entries() : unchanged(slice));
        if (adoption == Adoption.ALLOWED) {
          stealing.clear(slot);
          adopted.put(slot, new Claims());
        } else {
          stealing.set(slot);
          nextNanos = Math.min(nextNanos, nowNanos + SOON_NANOS);
        }
      }
      remember(slice, nowNanos);
      // Progress in an adopted slot is ignored: it is no evidence that the owner is active.
      heads[slot] = adopted.containsKey(slot) ? null : first;
    }
    return taken;
  }

  /** Returns, by queue, how overdue the oldest entries are in the slots of other nodes. */
  Map<String, Long> overdueMillis(SlotSet mine, long now) {
    Map<String, Long> overdue = new HashMap<>();
    for (DueEntry head : heads) {
      if (head != null && !mine.contains(head.id())) {
        overdue.merge(head.queue(), now - head.wakeAt(), Math::max);
      }
    }
    return overdue;
  }

  /**
   * Returns whether only the owner of a slot can have moved the slot's overdue entries. This is so if this node does
   * not drain the slot, and if no other node may adopt the slot before this node.
   */
  private boolean isMovedByOwner(int slot) {
    return !stealing.get(slot) && (adoption != Adoption.ALLOWED || helpersBefore(slot) == 0);
  }

  private void remember(DueSlice slice, long nowNanos) {
    Map<DueEntry, Long> before = seenIn(slice.slot());
    Map<DueEntry, Long> after = new HashMap<>();
    slice.entries().stream().limit(REMEMBERED)
        .forEach(entry -> after.put(entry, before.getOrDefault(entry, nowNanos)));
    if (after.isEmpty()) {
      seenNanos.remove(slice.slot());
    } else {
      seenNanos.put(slice.slot(), after);
    }
  }

  private Map<DueEntry, Long> seenIn(int slot) {
    return seenNanos.getOrDefault(slot, Map.of());
  }

  /** Returns the entries that the previous poll of the slot returned as well. */
  private List<DueEntry> unchanged(DueSlice slice) {
    return slice.entries().stream().filter(seenIn(slice.slot())::containsKey).toList();
  }

  private boolean isOrphaned(DueSlice slice, boolean isBusy, long nowNanos) {
    int slot = slice.slot();
    long longestNanos = unchanged(slice).stream()
        .mapToLong(entry -> nowNanos - seenIn(slot).getOrDefault(entry, nowNanos)).max()
        .orElse(-1);
    String owner = assignment.owner(slot);
    Long seenNanos = owner == null ? null : atWorkNanos.get(owner);
    boolean isAtWork = seenNanos != null && nowNanos - seenNanos <= AT_WORK_NANOS;
    long patienceNanos = isAtWork ? (isBusy ? BUSY_PATIENCE_NANOS : PATIENCE_NANOS) : 0;
    if (adoption == Adoption.ALLOWED) {
      // The last interval is shortened to a half, because polls are not exactly one interval apart.
      patienceNanos = Math.max(patienceNanos, helpersBefore(slot) * EVERY_NANOS + EVERY_NANOS / 2);
    }
    return longestNanos >= patienceNanos;
  }

  private int helpersBefore(int slot) {
    return assignment.slotCount() == 0
        ? 0
        : Math.min(MAX_HELPERS_BEFORE, assignment.helpersBefore(slot % assignment.slotCount(), node));
  }

  private static @Nullable DueEntry first(DueSlice slice) {
    return slice.entries().isEmpty() ? null : slice.entries().getFirst();
  }
}
