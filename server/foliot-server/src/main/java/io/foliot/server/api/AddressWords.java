package io.foliot.server.api;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Explains, in words, which worker a due task waits for because of its address. */
final class AddressWords {
  private AddressWords() {}

  /**
   * Returns in words which worker a due task waits for.
   *
   * @param queue the queue of the task
   * @param fleet the workers; the name of a worker that the caller may not see is empty
   */
  static String of(Address address, String queue, Fleet fleet) {
    return switch (address.kind()) {
      case ANY -> "any worker of its queue may take it";
      case ZONE -> zone(address, queue, fleet);
      case SEAT, ZONE_SEAT, ONLY -> seat(address, queue, fleet);
    };
  }

  private static String zone(Address address, String queue, Fleet fleet) {
    boolean isKnown = address.number() < fleet.zones().size();
    String zone = isKnown ? inWords(fleet.zones().get(address.number())) : "zone number " + address.number();
    List<Fleet.Seat> workers = fleet.working(queue).stream()
        .filter(seat -> fleet.serves(seat, queue, address)).toList();
    return "it is addressed to the workers in " + zone + (workers.isEmpty()
        ? ", where none takes tasks of its queue; it waits for one"
        : " and waits for the next claim by one of them; workers there with its queue: " + workers.size());
  }

  private static String seat(Address address, String queue, Fleet fleet) {
    Fleet.Seat addressed = fleet.seat(address.number());
    String to = "it is addressed to the worker on seat " + Address.place(address.number());
    if (addressed == null) {
      return to + ", which no worker has" + otherwise(address, queue, fleet);
    }
    String described = to + " (" + (addressed.worker().isEmpty() ? "" : addressed.worker() + ", ")
        + inWords(addressed.zone()) + ")";
    if (addressed.works(queue)) {
      return described + " and waits for its next claim";
    }
    String why = !addressed.isLive()
        ? "is gone"
        : addressed.isEnabled() ? "takes no tasks of its queue" : "is disabled";
    return described + ", which " + why + otherwise(address, queue, fleet);
  }

  /** Returns in words which worker takes the task in place of the addressed worker. */
  private static String otherwise(Address address, String queue, Fleet fleet) {
    if (address.kind() == Address.Kind.ONLY) {
      return "; no other worker may take it";
    }
    Fleet.Seat substitute = substitute(address, queue, fleet);
    if (substitute != null) {
      return "; the worker on seat " + substitute.place() + " (" + substitute.worker() + ", "
          + inWords(substitute.zone()) + ") takes it with its next claim";
    }
    return address.kind() == Address.Kind.ZONE_SEAT
        ? "; it waits for another worker of its queue in that zone"
        : "; it waits for another worker of its queue";
  }

  private static Fleet.@Nullable Seat substitute(Address address, String queue, Fleet fleet) {
    for (Fleet.Seat seat : fleet.working(queue)) {
      if (fleet.serves(seat, queue, address)) {
        return seat;
      }
    }
    return null;
  }

  private static String inWords(String zone) {
    return zone.isEmpty() ? "no zone" : "zone " + zone;
  }
}
