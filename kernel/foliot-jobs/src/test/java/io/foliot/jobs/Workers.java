package io.foliot.jobs;

import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.Fleet.Seat;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Builds fleets for tests. The workers have the seats 0, 1, 2 and so on, and all work for one queue. */
final class Workers {
  private final String queue;
  private final List<Seat> seats = new ArrayList<>();
  private final Set<String> zones = new LinkedHashSet<>();

  Workers() {
    this("q");
  }

  Workers(String queue) {
    this.queue = queue;
  }

  /** Adds a worker that is live and enabled. */
  Workers add(String worker, String zone) {
    zones.add(zone);
    seats.add(new Seat(seats.size(), worker, zone, Set.of(queue), "node", true, true));
    return this;
  }

  /** Marks the worker of a seat as gone. */
  Workers gone(int number) {
    Seat seat = seats.get(number);
    seats.set(number, new Seat(number, seat.worker(), seat.zone(), Set.of(), "", false, true));
    return this;
  }

  /** Lets the worker of a seat take the tasks of another queue only. */
  Workers takes(int number, String other) {
    Seat seat = seats.get(number);
    seats.set(number, new Seat(number, seat.worker(), seat.zone(), Set.of(other), "node", true, true));
    return this;
  }

  Workers disabled(int number) {
    Seat seat = seats.get(number);
    seats.set(number, new Seat(number, seat.worker(), seat.zone(), seat.queues(), "node", true, false));
    return this;
  }

  Fleet fleet() {
    return new Fleet(seats, List.copyOf(zones));
  }

  static Fleet of(int workers) {
    Workers made = new Workers();
    for (int i = 0; i < workers; i++) {
      made.add("worker-" + i, "a");
    }
    return made.fleet();
  }
}
