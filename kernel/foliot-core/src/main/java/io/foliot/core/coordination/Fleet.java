package io.foliot.core.coordination;

import io.foliot.core.Address;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a cluster as one node has read them, and the tasks that each may run. Immutable; thread-safe. A fleet
 * may be some seconds old, and the fleets of two nodes may differ. A fleet only decides which worker is offered a task
 * first: the claim decides which worker runs the task.
 *
 * <p>A loop asks for each entry that it handles which worker serves its address. So every question is answered from an
 * index, which the first question builds. The substitutes of seats are computed when they are first requested: each
 * costs one step for each worker of the queue, once for each fleet.
 */
public final class Fleet {
  /** Name of the document of kind {@code FLEET} that has the seats. */
  public static final String SEATS = "seats";

  /** Increment of SplitMix64: 2^64 divided by the golden ratio. */
  private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  /** The fleet of a node that has not read the workers yet. */
  public static final Fleet EMPTY = new Fleet(List.of(), List.of());

  private final List<Seat> seats;
  private final List<String> zones;
  private final int inUse;
  private volatile @Nullable Index index;

  /**
   * The tenancy of a worker at one of {@link Address#PLACES} places. A place has at most one live worker. When another
   * worker gets the place, the seat has another number.
   *
   * @param number from 0 to {@link Address#MAX_NUMBER}; the place is the remainder of its division by
   *     {@link Address#PLACES}
   * @param id the worker that has the seat, or the latest worker that had it
   * @param zone the zone of the seat
   * @param queues the queues whose tasks the worker takes; empty if the worker is gone
   * @param node the node that the worker calls; empty if the worker is gone
   * @param isLive whether the worker has called recently
   * @param isEnabled whether the worker gets new tasks
   */
  public record Seat(int number, WorkerId id, String zone, Set<String> queues, String node, boolean isLive,
      boolean isEnabled) {
    public Seat {
      queues = Set.copyOf(queues);
    }

    /** Creates the seat of a worker of the application that contains the engine. */
    public Seat(int number, String worker, String zone, Set<String> queues, String node, boolean isLive,
        boolean isEnabled) {
      this(number, WorkerId.of(worker), zone, queues, node, isLive, isEnabled);
    }

    /** Returns the name of the worker. */
    public String worker() {
      return id.name();
    }

    /** Returns the place, which keeps its number from one worker to the next. */
    public int place() {
      return Address.place(number);
    }

    /** Returns a pseudo-random weight of the worker for a shard, the same in every process and release. */
    public long weight(int shard) {
      return Fleet.weight(id.text(), shard);
    }

    /** Returns whether the worker gets tasks of a queue. */
    public boolean works(String queue) {
      return isLive && isEnabled && queues.contains(queue);
    }
  }

  /**
   * Creates a fleet.
   *
   * @param seats the seats that workers have or have had, in the order of their places
   * @param zones the zones in which workers are or have been; the index of a zone in this list is the number of the
   *     zone
   */
  public Fleet(List<Seat> seats, List<String> zones) {
    this(seats, zones, (int) seats.stream().filter(Seat::isLive).count());
  }

  /**
   * Creates a fleet.
   *
   * @param inUse how many seats workers have, or left so lately that the seats still count for the workers' owners
   */
  public Fleet(List<Seat> seats, List<String> zones, int inUse) {
    this.seats = List.copyOf(seats);
    this.zones = List.copyOf(zones);
    this.inUse = inUse;
  }

  /** Returns how many of the {@link Address#PLACES} seats are in use: workers have them, or left them lately. */
  public int inUse() {
    return inUse;
  }

  /** Returns the seats that workers have or have had, one for each place, in the order of their places. */
  public List<Seat> seats() {
    return seats;
  }

  /** Returns the zones in which workers are or have been; the index of a zone is its number. */
  public List<String> zones() {
    return zones;
  }

  /** Returns the seats whose workers get tasks of a queue, in the order of their places. */
  public List<Seat> working(String queue) {
    Takers takers = index().byQueue.get(queue);
    return takers == null ? List.of() : takers.seats;
  }

  /** Returns whether there is a live worker. */
  public boolean hasWorkers() {
    return !index().byWorker.isEmpty();
  }

  /** Returns a seat by its number, or null if this is not the number of the latest worker at its place. */
  public @Nullable Seat seat(int number) {
    Seat latest = latestAt(number);
    return latest == null || latest.number() != number ? null : latest;
  }

  /** Returns the seat of the latest worker at the place of a seat, or null if no worker has ever been there. */
  public @Nullable Seat latestAt(int number) {
    return index().byPlace.get(Address.place(number));
  }

  /** Returns whether the worker of a seat has gone for good, because another worker has had its place since. */
  public boolean isOver(int number) {
    Seat latest = latestAt(number);
    if (latest == null) {
      return false;
    }
    // The fleet of this node may be older than the seat. As the tenancies repeat, the nearer direction counts.
    int ahead = Math.floorMod((latest.number() - number) / Address.PLACES, Address.TENANCIES);
    return ahead > 0 && ahead < Address.TENANCIES / 2;
  }

  /** Returns the seat of a live worker, or null if the worker is not live or has no seat. */
  public @Nullable Seat seatOf(WorkerId worker) {
    return index().byWorker.get(worker);
  }

  /** Returns the seat of a live worker of the application that contains the engine; null if it has none. */
  public @Nullable Seat seatOf(String worker) {
    return seatOf(WorkerId.of(worker));
  }

  /** Returns the number of a zone, or -1 if no worker has been in it. */
  public int zone(String name) {
    return index().zones.getOrDefault(name, -1);
  }

  /**
   * Returns whether a worker may run tasks of a queue that have this address. Any worker may run a task with
   * {@link Address#ANYWHERE}, whatever queues the worker takes. For any other address, the worker must get tasks of the
   * queue ({@link Seat#works}). In addition, the address must be the zone of the worker, or the worker must be the
   * {@link #server} of the address.
   */
  public boolean serves(Seat worker, String queue, Address address) {
    if (address.isAnywhere()) {
      return true;
    }
    if (!worker.works(queue)) {
      return false;
    }
    if (address.kind() == Address.Kind.ZONE) {
      return zone(worker.zone()) == address.number();
    }
    Seat server = server(queue, address);
    return server != null && server.number() == worker.number();
  }

  /**
   * Returns the only seat whose worker may run tasks of a queue that are addressed to a seat; null if no worker may.
   * This is the addressed seat if its worker gets tasks of the queue, else its substitute if the address permits one.
   * A later worker at the place of the seat is no more than a candidate for the substitute.
   *
   * <p>The substitute is chosen by rendezvous hashing (Thaler and Ravishankar 1996): when a worker leaves, one other
   * worker becomes the substitute for its seat. A seat that already has a substitute keeps it, unless the substitute is
   * the worker that left.
   *
   * @throws IllegalArgumentException if the address is not the address of a seat
   */
  public @Nullable Seat server(String queue, Address address) {
    if (address.isAnywhere() || address.kind() == Address.Kind.ZONE) {
      throw new IllegalArgumentException("expected the address of a seat: address=" + address);
    }
    Index known = index();
    Seat latest = known.byPlace.get(Address.place(address.number()));
    if (latest != null && latest.number() == address.number() && latest.works(queue)) {
      return latest;
    }
    Takers takers = known.byQueue.get(queue);
    if (takers == null || address.kind() == Address.Kind.ONLY) {
      return null;
    }
    if (address.kind() == Address.Kind.SEAT) {
      return takers.substitute(address.number());
    }
    Takers ofZone = latest == null ? null : takers.byZone().get(latest.zone());
    return ofZone == null ? null : ofZone.substitute(address.number());
  }

  /** Returns how many weights of workers have been computed. Tests use it to bound the cost of a question. */
  long weighed() {
    return index().byQueue.values().stream()
        .mapToLong(takers -> takers.weighed() + takers.byZone().values().stream().mapToLong(Takers::weighed).sum())
        .sum();
  }

  private Index index() {
    Index built = index;
    if (built == null) {
      // Two threads may build an index at the same time; both are correct.
      built = new Index(seats, zones);
      index = built;
    }
    return built;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other || (other instanceof Fleet fleet && seats.equals(fleet.seats) && zones.equals(fleet.zones)
        && inUse == fleet.inUse);
  }

  @Override
  public int hashCode() {
    return Objects.hash(seats, zones);
  }

  @Override
  public String toString() {
    return "Fleet[seats=" + seats + ", zones=" + zones + "]";
  }

  /** The seats by all that a question may name. */
  private static final class Index {
    final Map<Integer, Seat> byPlace = new HashMap<>();
    final Map<WorkerId, Seat> byWorker = new HashMap<>();
    final Map<String, Integer> zones = new HashMap<>();
    final Map<String, Takers> byQueue;

    Index(List<Seat> seats, List<String> zoneNames) {
      Map<String, List<Seat>> working = new HashMap<>();
      for (Seat seat : seats) {
        byPlace.putIfAbsent(seat.place(), seat);
        if (seat.isLive()) {
          byWorker.putIfAbsent(seat.id(), seat);
          if (seat.isEnabled()) {
            seat.queues().forEach(queue -> working.computeIfAbsent(queue, none -> new ArrayList<>()).add(seat));
          }
        }
      }
      for (int i = 0; i < zoneNames.size(); i++) {
        zones.putIfAbsent(zoneNames.get(i), i);
      }
      byQueue = new HashMap<>(2 * working.size());
      working.forEach((queue, takers) -> byQueue.put(queue, new Takers(takers)));
    }
  }

  /** The seats whose workers get tasks of a queue, in all zones or in one. */
  private static final class Takers {
    final List<Seat> seats;
    private volatile long @Nullable [] hashes;
    private volatile @Nullable Map<String, Takers> byZone;
    private final Map<Integer, Seat> substitutes = new ConcurrentHashMap<>();

    Takers(List<Seat> seats) {
      this.seats = List.copyOf(seats);
    }

    Map<String, Takers> byZone() {
      Map<String, Takers> known = byZone;
      if (known == null) {
        Map<String, List<Seat>> grouped = new HashMap<>();
        seats.forEach(seat -> grouped.computeIfAbsent(seat.zone(), none -> new ArrayList<>()).add(seat));
        known = new HashMap<>(2 * grouped.size());
        for (Map.Entry<String, List<Seat>> each : grouped.entrySet()) {
          known.put(each.getKey(), new Takers(each.getValue()));
        }
        byZone = known;
      }
      return known;
    }

    long weighed() {
      return (long) substitutes.size() * seats.size();
    }

    Seat substitute(int number) {
      return substitutes.computeIfAbsent(number, this::heaviest);
    }

    private Seat heaviest(int number) {
      long[] names = hashes();
      long salt = mixed(number);
      int chosen = 0;
      long most = mixed(names[0] ^ salt);
      for (int i = 1; i < names.length; i++) {
        long weight = mixed(names[i] ^ salt);
        if (Long.compareUnsigned(weight, most) > 0) {
          chosen = i;
          most = weight;
        }
      }
      return seats.get(chosen);
    }

    private long[] hashes() {
      long[] known = hashes;
      if (known == null) {
        known = seats.stream().mapToLong(seat -> seat.weight(0)).toArray();
        hashes = known;
      }
      return known;
    }
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
