package io.foliot.engine;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * An index of the {@link Fleet}. The lanes of a node use it to find the workers that may run an addressed task.
 * Immutable.
 *
 * @param fleet the fleet as this node has last read it
 * @param node the name of this node
 * @param ownZones the zones in which workers that call this node take tasks, by queue
 * @param disabled the names of the live workers that are disabled, and of those that were disabled when they left
 *     their seats
 * @param isKnown whether the node has read the fleet since it started
 */
record Seating(Fleet fleet, String node, Map<String, Set<Integer>> ownZones, Set<String> disabled, boolean isKnown) {
  /** The seating of a node that has not read the fleet yet. Any worker may be disabled. */
  static final Seating UNKNOWN = new Seating(Fleet.EMPTY, "", Map.of(), Set.of(), false);

  static Seating of(Fleet fleet, String node) {
    Map<String, Set<Integer>> ownZones = new HashMap<>();
    Set<String> disabled = new HashSet<>();
    for (Fleet.Seat seat : fleet.seats()) {
      if (seat.isLive() && seat.isEnabled() && seat.node().equals(node)) {
        int zone = fleet.zone(seat.zone());
        seat.queues().forEach(queue -> ownZones.computeIfAbsent(queue, none -> new HashSet<>()).add(zone));
      }
      if (!seat.isEnabled()) {
        disabled.add(seat.worker());
      }
    }
    return new Seating(fleet, node, ownZones, disabled, true);
  }

  /**
   * Returns whether a worker may run a task with an address. A worker without a seat may run only tasks that any worker
   * may run.
   */
  boolean serves(WorkerId worker, String queue, Address address) {
    if (address.isAnywhere()) {
      return true;
    }
    Fleet.Seat seat = fleet.seatOf(worker);
    return seat != null && fleet.serves(seat, queue, address);
  }

  /** Returns whether some worker that calls this node may run a task with an address. */
  boolean isServedHere(String queue, Address address) {
    if (address.isAnywhere()) {
      return !ownZones.isEmpty();
    }
    if (address.kind() == Address.Kind.ZONE) {
      return ownZones.getOrDefault(queue, Set.of()).contains(address.number());
    }
    Fleet.Seat server = fleet.server(queue, address);
    return server != null && server.node().equals(node);
  }

  /**
   * Returns the number of the zone in which a worker takes tasks of a queue; -1 if the worker has no seat, or gets no
   * tasks of the queue.
   */
  int zoneOf(WorkerId worker, String queue) {
    Fleet.Seat seat = fleet.seatOf(worker);
    return seat == null || !seat.works(queue) ? -1 : fleet.zone(seat.zone());
  }

  /**
   * Returns whether a worker receives no tasks, because its name is disabled or because this node has not read the
   * fleet yet. A worker may leave its seat while it is disabled, and return later. It gets the seat back with the next
   * write of the seats, and is regarded as disabled before this write too.
   */
  boolean isDisabled(WorkerId worker) {
    return !isKnown || disabled.contains(worker.name());
  }
}
