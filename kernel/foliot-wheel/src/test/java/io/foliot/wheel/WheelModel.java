package io.foliot.wheel;

import java.util.LinkedHashSet;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A model of the hierarchical wheel that follows its definition, without levels or lists. When an entry is placed, its
 * deadline and the hand (the current tick) are compared digit by digit in base 64, from the highest digit. The slot of
 * the entry consists of the ticks that have the same digits as the deadline, down to and including the first digit that
 * differs. When the hand reaches the first tick of the slot, all entries of the slot are examined in the order of
 * arrival. A reschedule to a later deadline leaves the entry in its slot.
 */
public final class WheelModel extends TimerQueueModel {
  /** Shift of the highest of eleven digits of 6 bits. */
  private static final int TOP_SHIFT = 60;

  private static final class Slot {
    final LinkedHashSet<Entry> entries = new LinkedHashSet<>();

    /** Earliest deadline that was placed in this slot since it was last empty. */
    long earliest = Long.MAX_VALUE;
  }

  private final TreeMap<Long, Slot> slots = new TreeMap<>();
  /** Entries of the slots that the hand has reached, and late entries, in the order in which they are examined. */
  private final LinkedHashSet<Entry> reached = new LinkedHashSet<>();

  /** Last tick of the slot that the hand reached most recently. */
  private long reachedEnd = Long.MIN_VALUE;

  public WheelModel(long startTick) {
    super(startTick);
  }

  @Override
  public boolean reschedule(long handle, long deadlineTick) {
    Entry entry = live.get(handle);
    if (entry != null && deadlineTick > entry.deadlineTick) {
      entry.deadlineTick = deadlineTick;
      return true;
    }
    return super.reschedule(handle, deadlineTick);
  }

  @Override
  void keep(Entry entry) {
    if (!reached.isEmpty() && entry.deadlineTick <= reachedEnd) {
      reached.add(entry);
    } else {
      placeInSlot(entry);
    }
  }

  private void placeInSlot(Entry entry) {
    entry.key = slotStart(hand, entry.deadlineTick);
    Slot slot = slots.computeIfAbsent(entry.key, start -> new Slot());
    slot.entries.add(entry);
    slot.earliest = Math.min(slot.earliest, entry.deadlineTick);
  }

  @Override
  void remove(Entry entry) {
    if (!reached.remove(entry)) {
      Slot slot = slots.get(entry.key);
      slot.entries.remove(entry);
      if (slot.entries.isEmpty()) {
        slots.remove(entry.key);
      }
    }
  }

  @Override
  void takeLate() {
    reached.addAll(late);
  }

  @Override
  public @Nullable Entry next() {
    while (true) {
      if (touched == limit) {
        return null;
      }
      if (!reached.isEmpty()) {
        touched++;
        Entry entry = reached.removeFirst();
        if (entry.deadlineTick <= hand) {
          live.remove(entry.handle);
          return entry;
        }
        placeInSlot(entry);
      } else if (!slots.isEmpty() && slots.firstKey() <= nowTick) {
        long before = hand;
        hand = slots.firstKey();
        reachedEnd = slotEnd(before, hand);
        reached.addAll(slots.pollFirstEntry().getValue().entries);
      } else {
        hand = nowTick;
        return null;
      }
    }
  }

  @Override
  long nextKeptWake() {
    if (!reached.isEmpty()) {
      return hand;
    }
    return slots.isEmpty() ? TimerQueue.NEVER : slots.firstEntry().getValue().earliest;
  }

  private static long slotEnd(long hand, long start) {
    int shift = TOP_SHIFT;
    while (hand >> shift == start >> shift) {
      shift -= 6;
    }
    return start + (1L << shift) - 1;
  }

  /** Returns the first tick of a deadline's slot. The shifts round down, so negative ticks need no special case. */
  static long slotStart(long hand, long deadlineTick) {
    for (int shift = TOP_SHIFT; shift >= 0; shift -= 6) {
      if (hand >> shift != deadlineTick >> shift) {
        return deadlineTick >> shift << shift;
      }
    }
    throw new AssertionError("the deadline is the hand: " + hand);
  }
}
