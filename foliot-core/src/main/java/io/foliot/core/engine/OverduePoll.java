package io.foliot.core.engine;

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
 * What should have been fired a second ago in slots that this node does not look after, and which of it to take.
 *
 * <p>A slot whose oldest entry has not moved between two looks is taken for left behind, and worked off for as long as claims are
 * won. But an owner with a backlog may only not have come to that slot yet: while others of its slots move, it is at work, and is
 * given more time; more yet by a node that is behind itself. So the nodes of a busy cluster do not claim what the others are about
 * to. Loop thread only.
 */
final class OverduePoll {
  /** What is so late in a slot of another node's may have nobody. */
  private static final long OVERDUE_MILLIS = 1_000;

  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final long EVERY_NANOS = NANOS_PER_SECOND;
  /** Between two looks at a slot that is worked off. */
  private static final long SOON_NANOS = NANOS_PER_SECOND / 10;
  /** Who was seen at work so long ago is. */
  private static final long AT_WORK_NANOS = 2 * NANOS_PER_SECOND;
  /** For how long an entry may stand whose owner is at work. */
  private static final long PATIENCE_NANOS = 5 * NANOS_PER_SECOND;
  /** The same where this node has enough to do. */
  private static final long BUSY_PATIENCE_NANOS = 30 * NANOS_PER_SECOND;

  private final int page;
  private final BitSet stealing = new BitSet();
  private final Map<String, Long> atWorkNanos = new HashMap<>();
  /** By slot, what was its oldest entry at the last look, and since when. */
  private @Nullable DueEntry[] heads;
  private long[] sinceNanos;
  private Assignment assignment;
  private long nextNanos;

  /**
   * One that knows of no owners.
   *
   * @param page how many entries to read of a slot that is worked off
   */
  OverduePoll(int slotCount, int page, long nowNanos) {
    this.page = page;
    heads = new DueEntry[slotCount];
    sinceNanos = new long[slotCount];
    assignment = Assignment.none(slotCount);
    nextNanos = nowNanos + EVERY_NANOS;
  }

  /** The slots have been doubled. */
  void grow(int slotCount) {
    heads = Arrays.copyOf(heads, slotCount);
    sinceNanos = Arrays.copyOf(sinceNanos, slotCount);
  }

  /** Who looks after what from now on. */
  void assigned(Assignment newAssignment, SlotSet mine) {
    assignment = newAssignment;
    atWorkNanos.keySet().removeIf(owner -> newAssignment.slotsOf(owner).isEmpty());
    for (int slot = mine.next(0); slot >= 0; slot = mine.next(slot + 1)) {
      stealing.clear(slot);
    }
  }

  /** A claim of an entry there was not won: somebody looks after it. */
  void isLookedAfter(int slot) {
    stealing.clear(slot);
  }

  boolean isDue(long nowNanos) {
    return nowNanos - nextNanos >= 0;
  }

  /** What to read: the oldest of each slot of the share that is not this node's, more where it is worked off. */
  List<DueScan> begin(SlotSet share, SlotSet mine, long now, long nowNanos) {
    nextNanos = nowNanos + EVERY_NANOS;
    List<DueScan> scans = new ArrayList<>();
    for (int slot = share.next(0); slot >= 0; slot = share.next(slot + 1)) {
      if (!mine.contains(slot)) {
        scans.add(new DueScan(slot, Long.MIN_VALUE, null, now - OVERDUE_MILLIS, stealing.get(slot) ? page : 1));
      }
    }
    return scans;
  }

  /**
   * What to take of what was read.
   *
   * @param isBusy whether this node has enough to do
   */
  List<DueEntry> taken(List<DueSlice> slices, SlotSet mine, boolean isBusy, long nowNanos) {
    for (DueSlice slice : slices) {
      DueEntry before = heads[slice.slot()];
      String owner = owner(slice.slot());
      if (owner != null && before != null && !stealing.get(slice.slot()) && !before.equals(first(slice))) {
        atWorkNanos.put(owner, nowNanos);
      }
    }
    List<DueEntry> taken = new ArrayList<>();
    for (DueSlice slice : slices) {
      int slot = slice.slot();
      DueEntry first = first(slice);
      if (first == null || mine.contains(slot)) {
        stealing.clear(slot);
      } else if (stealing.get(slot) || isLeft(slot, first, isBusy, nowNanos)) {
        stealing.set(slot);
        taken.addAll(slice.entries());
        nextNanos = Math.min(nextNanos, nowNanos + SOON_NANOS);
      }
      sinceNanos[slot] = first != null && first.equals(heads[slot]) ? sinceNanos[slot] : nowNanos;
      heads[slot] = first;
    }
    return taken;
  }

  /** By queue, how overdue the oldest entries are of the slots that others look after. */
  Map<String, Long> overdueMillis(SlotSet mine, long now) {
    Map<String, Long> overdue = new HashMap<>();
    for (DueEntry head : heads) {
      if (head != null && !mine.contains(head.id())) {
        overdue.merge(head.queue(), now - head.wakeAt(), Math::max);
      }
    }
    return overdue;
  }

  private boolean isLeft(int slot, DueEntry first, boolean isBusy, long nowNanos) {
    if (!first.equals(heads[slot])) {
      return false;
    }
    String owner = owner(slot);
    Long seenNanos = owner == null ? null : atWorkNanos.get(owner);
    boolean isAtWork = seenNanos != null && nowNanos - seenNanos <= AT_WORK_NANOS;
    return !isAtWork || nowNanos - sinceNanos[slot] >= (isBusy ? BUSY_PATIENCE_NANOS : PATIENCE_NANOS);
  }

  private static @Nullable DueEntry first(DueSlice slice) {
    return slice.entries().isEmpty() ? null : slice.entries().getFirst();
  }

  /** Where the slots were doubled since, both halves are those of whoever had the whole. */
  private @Nullable String owner(int slot) {
    return assignment.slotCount() == 0 ? null : assignment.owner(slot % assignment.slotCount());
  }
}
