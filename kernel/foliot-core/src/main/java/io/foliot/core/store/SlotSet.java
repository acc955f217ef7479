package io.foliot.core.store;

import io.foliot.core.TaskId;
import java.util.BitSet;

/** A set of slots of a store. Immutable. */
public final class SlotSet {
  private final int slotCount;
  private final BitSet slots;
  private final int size;

  private SlotSet(int slotCount, BitSet slots) {
    this.slotCount = slotCount;
    this.slots = slots;
    this.size = slots.cardinality();
  }

  /** Returns the set of all slots. */
  public static SlotSet all(int slotCount) {
    BitSet slots = new BitSet(slotCount);
    slots.set(0, slotCount);
    return new SlotSet(slotCount, slots);
  }

  /** Returns the set of the slots whose bits are set; the bits are copied. */
  public static SlotSet of(int slotCount, BitSet slots) {
    if (slots.length() > slotCount) {
      throw new IllegalArgumentException("a slot is below the number of slots: slot=" + (slots.length() - 1)
          + ", slots=" + slotCount);
    }
    return new SlotSet(slotCount, (BitSet) slots.clone());
  }

  /** Returns the number of slots of the store. */
  public int slotCount() {
    return slotCount;
  }

  /** Returns the number of slots in the set. */
  public int size() {
    return size;
  }

  /** Returns whether the slot is in the set. */
  public boolean contains(int slot) {
    return slots.get(slot);
  }

  /** Returns whether the task's slot is in the set. */
  public boolean contains(TaskId id) {
    return slots.get(id.slot(slotCount));
  }

  /** Returns whether every slot is in the set. */
  public boolean isAll() {
    return size() == slotCount;
  }

  /** Returns the first slot of the set that is at or after the given one, or -1 if there is none. */
  public int next(int slot) {
    return slots.nextSetBit(slot);
  }

  /** Returns the slots that are in both sets. Both must have the same slot count. */
  public SlotSet and(SlotSet other) {
    ensureComparable(other);
    BitSet both = (BitSet) slots.clone();
    both.and(other.slots);
    return new SlotSet(slotCount, both);
  }

  /** Returns the slots that are in at least one of the sets. Both must have the same slot count. */
  public SlotSet or(SlotSet other) {
    ensureComparable(other);
    BitSet either = (BitSet) slots.clone();
    either.or(other.slots);
    return new SlotSet(slotCount, either);
  }

  private void ensureComparable(SlotSet other) {
    if (slotCount != other.slotCount) {
      throw new IllegalArgumentException("sets for different numbers of slots cannot be combined: slots=" + slotCount
          + ", others=" + other.slotCount);
    }
  }

  /** Returns the set of the slots that are not in this set. */
  public SlotSet complement() {
    BitSet flipped = (BitSet) slots.clone();
    flipped.flip(0, slotCount);
    return new SlotSet(slotCount, flipped);
  }

  /**
   * Returns the set that contains the same tasks after the number of slots has doubled: each slot of this set, and the
   * slot that was split from it.
   */
  public SlotSet doubled() {
    BitSet both = (BitSet) slots.clone();
    slots.stream().forEach(slot -> both.set(slot + slotCount));
    return new SlotSet(2 * slotCount, both);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SlotSet that && slotCount == that.slotCount && slots.equals(that.slots);
  }

  @Override
  public int hashCode() {
    return slots.hashCode();
  }

  @Override
  public String toString() {
    return slots + " of " + slotCount;
  }
}
