package io.foliot.engine;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An index of the {@link Fleet}. The lanes of a node use it to find the workers that may run an addressed task.
 * Immutable.
 *
 * @param fleet the fleet as this node has last read it
 * @param byWorker the seats of live workers, by the names of the workers
 * @param own the seats of live workers that call this node
 */
record Seating(Fleet fleet, Map<String, Fleet.Seat> byWorker, List<Fleet.Seat> own) {
  static final Seating EMPTY = of(Fleet.EMPTY, "");

  static Seating of(Fleet fleet, String node) {
    Map<String, Fleet.Seat> byWorker = new HashMap<>();
    List<Fleet.Seat> own = new ArrayList<>();
    for (Fleet.Seat seat : fleet.seats()) {
      if (seat.isLive()) {
        byWorker.put(seat.worker(), seat);
        if (seat.node().equals(node)) {
          own.add(seat);
        }
      }
    }
    return new Seating(fleet, Map.copyOf(byWorker), List.copyOf(own));
  }

  /** Returns whether a worker may run a task with an address. An unknown worker may run only tasks that go anywhere. */
  boolean serves(String worker, String queue, Address address) {
    if (address.isAnywhere()) {
      return true;
    }
    Fleet.Seat seat = byWorker.get(worker);
    return seat != null && fleet.serves(seat, queue, address);
  }

  /** Returns whether some worker that calls this node may run a task with an address. */
  boolean isServedHere(String queue, Address address) {
    for (Fleet.Seat seat : own) {
      if (fleet.serves(seat, queue, address)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether a worker is disabled, and gets no tasks. */
  boolean isDisabled(String worker) {
    Fleet.Seat seat = worker.isEmpty() ? null : byWorker.get(worker);
    return seat != null && !seat.isEnabled();
  }
}
