package io.foliot.core.engine;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The attempts that a delivery takes at once on this node, over all of its destinations. A place is taken before the
 * task is claimed: a task without one waits in its lane and keeps its attempts, instead of being claimed and then
 * refused. Any thread.
 */
final class AttemptPlaces {
  private final int count;

  // guarded by this
  private int taken;
  private final Set<Runnable> starving = new LinkedHashSet<>();

  AttemptPlaces(int count) {
    this.count = count;
  }

  /** Takes up to so many; {@code again} is called when it may be worth asking again. */
  synchronized int acquire(int wanted, Runnable again) {
    int given = Math.max(0, Math.min(wanted, count - taken));
    if (given < wanted) {
      starving.add(again);
    }
    taken += given;
    return given;
  }

  /** Gives places back. */
  synchronized void giveBack(int places) {
    taken -= places;
    assert taken >= 0 : taken;
    if (!starving.isEmpty() && places > 0) {
      starving.forEach(Runnable::run);
      starving.clear();
    }
  }

  synchronized boolean isFull() {
    return taken >= count;
  }
}
