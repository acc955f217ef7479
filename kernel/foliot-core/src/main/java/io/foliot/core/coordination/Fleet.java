package io.foliot.core.coordination;

import io.foliot.core.Address;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a cluster as one node has read them, and the tasks that each may run. Immutable. A fleet may be some
 * seconds old, and the fleets of two nodes may differ. A fleet only decides which worker is offered a task first: the
 * claim decides which worker runs the task.
 *
 * @param seats the seats that workers have or have had, in the order of their numbers
 * @param zones the zones in which workers are or have been; the index of a zone in this list is the number of the zone
 */
public record Fleet(List<Seat> seats, List<String> zones) {
  /** The fleet of a node that has not read the workers yet. */
  public static final Fleet EMPTY = new Fleet(List.of(), List.of());

  /** Increment of SplitMix64: 2^64 divided by the golden ratio. */
  private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  /** Name of the document of kind {@code FLEET} that has the seats. */
  public static final String SEATS = "seats";

  /**
   * A number that at most one live worker has. Workers may have the seat one after another, and all of them are in the
   * same zone.
   *
   * @param number from 0 to {@link Address#MAX_NUMBER}
   * @param worker the name of the worker that has the seat, or of the latest worker that had it
   * @param zone the zone of the seat
   * @param queues the queues whose tasks the worker takes; empty if the worker is gone
   * @param node the node that the worker calls; empty if the worker is gone
   * @param isLive whether the worker has called recently
   * @param isEnabled whether the worker gets new tasks
   */
  public record Seat(int number, String worker, String zone, Set<String> queues, String node, boolean isLive,
      boolean isEnabled) {
    public Seat {
      queues = Set.copyOf(queues);
    }

    /** Returns whether the worker gets tasks of a queue. */
    public boolean works(String queue) {
      return isLive && isEnabled && queues.contains(queue);
    }
  }

  public Fleet {
    seats = List.copyOf(seats);
    zones = List.copyOf(zones);
  }

  /** Returns the seats whose workers get tasks of a queue, in the order of their numbers. */
  public List<Seat> working(String queue) {
    List<Seat> working = new ArrayList<>();
    for (Seat seat : seats) {
      if (seat.works(queue)) {
        working.add(seat);
      }
    }
    return working;
  }

  /** Returns whether there is a live worker. */
  public boolean hasWorkers() {
    for (Seat seat : seats) {
      if (seat.isLive()) {
        return true;
      }
    }
    return false;
  }

  /** Returns a seat by its number, or null if no worker has ever had the seat. */
  public @Nullable Seat seat(int number) {
    for (Seat seat : seats) {
      if (seat.number() == number) {
        return seat;
      }
    }
    return null;
  }

  /** Returns the seat of a live worker, or null if the worker is not live or has no seat. */
  public @Nullable Seat seatOf(String worker) {
    for (Seat seat : seats) {
      if (seat.isLive() && seat.worker().equals(worker)) {
        return seat;
      }
    }
    return null;
  }

  /** Returns the number of a zone, or -1 if no worker has been in it. */
  public int zone(String name) {
    return zones.indexOf(name);
  }

  /**
   * Returns whether a worker may run tasks of a queue that have this address. Any worker may run a task with
   * {@link Address#ANYWHERE}, whatever queues the worker takes. For any other address, the worker must get tasks of the
   * queue ({@link Seat#works}). In addition, the address must be the seat or zone of the worker, or the worker must be
   * the substitute for the seat.
   *
   * <p>The substitute is chosen by rendezvous hashing (Thaler and Ravishankar 1996): when a worker leaves, one other
   * worker becomes the substitute for its seat. A seat that already has a substitute keeps it, unless the substitute is
   * the worker that left.
   */
  public boolean serves(Seat worker, String queue, Address address) {
    if (address.isAnywhere()) {
      return true;
    }
    if (!worker.works(queue)) {
      return false;
    }
    return switch (address.kind()) {
      case ANY -> true;
      case ONLY -> worker.number() == address.number();
      case ZONE -> zone(worker.zone()) == address.number();
      case SEAT, ZONE_SEAT -> worker.number() == address.number() || isSubstitute(worker, queue, address);
    };
  }

  private boolean isSubstitute(Seat worker, String queue, Address address) {
    Seat addressed = seat(address.number());
    if (addressed == null ? address.kind() == Address.Kind.ZONE_SEAT : addressed.works(queue)) {
      return false;
    }
    Seat substitute = null;
    long most = 0;
    for (Seat seat : working(queue)) {
      if (address.kind() == Address.Kind.ZONE_SEAT && addressed != null && !seat.zone().equals(addressed.zone())) {
        continue;
      }
      long weight = weight(seat.worker(), address.number());
      if (substitute == null || Long.compareUnsigned(weight, most) > 0) {
        substitute = seat;
        most = weight;
      }
    }
    return substitute != null && substitute.number() == worker.number();
  }

  /** Returns 64 bits of a hash of a text and a number, the same in every process and release. */
  public static long weight(String text, int number) {
    long hash = number + 1L;
    for (int i = 0; i < text.length(); i++) {
      hash = mixed(hash + text.charAt(i) + 1);
    }
    return mixed(hash);
  }

  /** Returns the number at an index of the sequence of SplitMix64 (Steele, Lea, Flood 2014) that begins at 0. */
  private static long mixed(long index) {
    long bits = index * GOLDEN_GAMMA + GOLDEN_GAMMA;
    bits = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L;
    bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
    return bits ^ (bits >>> 31);
  }
}
