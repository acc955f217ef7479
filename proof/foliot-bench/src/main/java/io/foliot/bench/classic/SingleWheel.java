package io.foliot.bench.classic;

/**
 * A circle of lists and a hand that goes to the next one at every tick. A deadline belongs to the list that the hand
 * reaches at that tick: the deadline modulo the number of lists.
 *
 * <p>Time moves tick by tick while a timer is placed, so an advance costs the ticks it covers, empty ones included; an
 * empty wheel advances any distance at once.
 */
abstract class SingleWheel extends ClassicQueue {
  private final TimerList[] slots;

  SingleWheel(long startTick, int slots) {
    super(startTick);
    if (slots <= 0) {
      throw new IllegalArgumentException("a wheel has at least one slot: slots=" + slots);
    }
    this.slots = TimerList.lists(slots);
  }

  final int slots() {
    return slots.length;
  }

  /** Returns the list of the hand at the given tick. */
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

  /** The tick of the next list that holds a timer, whether that timer is due in this revolution or in a later one. */
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
