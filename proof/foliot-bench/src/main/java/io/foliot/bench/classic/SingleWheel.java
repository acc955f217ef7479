package io.foliot.bench.classic;

/**
 * A circle of slots, each of which is a list of timers, and a hand that moves to the next slot at every tick. A timer
 * is in the slot that the hand reaches at the timer's deadline: the deadline modulo the number of slots.
 *
 * <p>While a timer is in a slot, time moves tick by tick, so an advance costs at least O(1) for each tick that it
 * covers. Otherwise time moves over any distance in one step.
 */
abstract class SingleWheel extends ClassicQueue {
  private final TimerList[] slots;

  SingleWheel(long startTick, int slots) {
    super(startTick);
    if (slots <= 0) {
      throw new IllegalArgumentException("a wheel must have at least one slot: slots=" + slots);
    }
    this.slots = TimerList.lists(slots);
  }

  final int slots() {
    return slots.length;
  }

  /** Returns the slot that the hand points to at the given tick. */
  final TimerList slot(long tick) {
    return slots[Math.floorMod(tick, slots.length)];
  }

  @Override
  void place(Timer timer) {
    slot(timer.deadlineTick).append(timer);
  }

  @Override
  void remove(Timer timer) {
    timer.unlink();
  }

  @Override
  int step(long nowTick, int budget) {
    moveTo(placed() == 0 ? nowTick : currentTick() + 1);
    return 0;
  }

  /** Returns the tick of the next slot that holds a timer, even if the timer is due in a later revolution. */
  @Override
  long nextPlaced() {
    for (int ahead = 1; ahead <= slots.length; ahead++) {
      if (!slot(currentTick() + ahead).isEmpty()) {
        return currentTick() + ahead;
      }
    }
    throw new AssertionError("a placed timer is in no slot: " + this);
  }
}
