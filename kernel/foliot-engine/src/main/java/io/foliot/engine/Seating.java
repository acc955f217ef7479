package io.foliot.engine;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An index of the {@link Fleet}. The lanes of a node use it to find the workers that may run an addressed task.
 * Immutable.
 *
 * @param fleet the fleet as this node has last read it
 * @param byWorker the seats of live workers, by the names of the workers
 * @param own the seats of live workers that call this node
 * @param disabled the live workers that are disabled, and the workers that were disabled when they left their seats
 * @param isKnown whether the node has read the fleet since it started
 */
record Seating(Fleet fleet, Map<String, Fleet.Seat> byWorker, List<Fleet.Seat> own, Set<String> disabled,
    boolean isKnown) {
  /** The seating of a node that has not read the fleet yet. Any worker may be disabled. */
  static final Seating UNKNOWN = new Seating(Fleet.EMPTY, Map.of(), List.of(), Set.of(), false);

  static Seating of(Fleet fleet, String node) {
    Map<String, Fleet.Seat> byWorker = new HashMap<>();
    List<Fleet.Seat> own = new ArrayList<>();
    Set<String> disabled = new HashSet<>();
    for (Fleet.Seat seat : fleet.seats()) {
      if (seat.isLive()) {
        byWorker.put(seat.worker(), seat);
        if (seat.node().equals(node)) {
          own.add(seat);
        }
      }
      if (!seat.isEnabled()) {
        disabled.add(seat.worker());
      }
    }
    disabled.removeIf(worker -> byWorker.containsKey(worker) && byWorker.get(worker).isEnabled());
    return new Seating(fleet, Map.copyOf(byWorker), List.copyOf(own), Set.copyOf(disabled), true);
  }

  /**
   * Returns whether a worker may run a task with an address. A worker without a seat may run only tasks that any worker
   * may run.
   */
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

  /**
   * Returns whether a worker receives no tasks, because it is disabled or because this node has not read the fleet yet.
   * A worker may leave its seat while it is disabled, and return later. It gets the seat back with the next write of
   * the seats, and is regarded as disabled before this write too.
   */
  boolean isDisabled(String worker) {
    return !isKnown || disabled.contains(worker);
  }
}
