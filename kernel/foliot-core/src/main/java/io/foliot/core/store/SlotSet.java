package io.foliot.core.store;

import io.foliot.core.TaskId;
import java.util.BitSet;

/** An immutable set of slots among a number of slots. */
public final class SlotSet {
  private final int slotCount;
  private final BitSet slots;

  private SlotSet(int slotCount, BitSet slots) {
    this.slotCount = slotCount;
    this.slots = slots;
  }

  /** All of them. */
  public static SlotSet all(int slotCount) {
    BitSet slots = new BitSet(slotCount);
    slots.set(0, slotCount);
    return new SlotSet(slotCount, slots);
  }

  /** A copy of the bits. */
  public static SlotSet of(int slotCount, BitSet slots) {
    if (slots.length() > slotCount) {
      throw new IllegalArgumentException("a slot is below the number of slots: slot=" + (slots.length() - 1));
    }
    return new SlotSet(slotCount, (BitSet) slots.clone());
  }

  /** Returns how many slots there are in all. */
  public int slotCount() {
    return slotCount;
  }

  /** Returns how many of them are in the set. */
  public int size() {
    return slots.cardinality();
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

  /** The first slot of the set at or behind the given one, or -1. */
  public int next(int slot) {
    return slots.nextSetBit(slot);
  }

  /** The slots that are in both sets, which are of the same number. */
  public SlotSet and(SlotSet other) {
    ensureComparable(other);
    BitSet both = (BitSet) slots.clone();
    both.and(other.slots);
    return new SlotSet(slotCount, both);
  }

  /** The slots that are in one set or the other, which are of the same number. */
  public SlotSet or(SlotSet other) {
    ensureComparable(other);
    BitSet either = (BitSet) slots.clone();
    either.or(other.slots);
    return new SlotSet(slotCount, either);
  }

  private void ensureComparable(SlotSet other) {
    if (slotCount != other.slotCount) {
      throw new IllegalArgumentException("sets of the same slots can be compared: slots=" + slotCount + ", others="
          + other.slotCount);
    }
  }

  /** The slots that are not in the set. */
  public SlotSet complement() {
    BitSet flipped = (BitSet) slots.clone();
    flipped.flip(0, slotCount);
    return new SlotSet(slotCount, flipped);
  }

  /** The set of the same tasks where there are twice as many slots: each of its slots, and the one it is split into. */
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
