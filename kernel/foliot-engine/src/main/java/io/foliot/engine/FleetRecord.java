package io.foliot.engine;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.format.DocumentFormat;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The seats of workers as the store keeps them, in one document that every node may change. Immutable; reads no clock.
 *
 * <p>Guarantees: a live worker has at most one seat, and a seat at most one worker. A seat stays in its zone,
 * unless no seat can be added and its worker has been gone for an hour. The number of a zone without seats is then
 * reused too. After its worker has gone, a seat rests for ten minutes before another worker gets its place. A worker
 * that comes back in the same zone gets its old seat, unless another worker has its place.
 *
 * <p>An owner of workers has at most as many seats as remain for all others. A seat counts for its owner while a worker
 * has it, and for an hour after that. As each zone has a seat, this is the owner's share of the zones too.
 *
 * @param zones the zones of all seats; the index of a zone is its number
 * @param seats all seats; the index of a seat is its place
 */
record FleetRecord(List<String> zones, List<Seat> seats) {
  static final FleetRecord EMPTY = new FleetRecord(List.of(), List.of());
  /** Maximum number of seats, and of zones. */
  static final int MAX = Address.PLACES;
  private static final String SUBJECT = "seats";
  private static final long REST_MICROS = 600_000_000L;
  /**
   * Time after which a seat that its worker has left counts for no owner, and may go to another zone if no seat can be
   * added.
   */
  private static final long ABANDONED_MICROS = 3_600_000_000L;

  /**
   * A seat.
   *
   * @param tenancy grows by one when another worker gets the seat, up to {@link Address#TENANCIES}, and then begins
   *     again
   * @param leftMicros when the worker of the seat was found to be gone, by the store's clock; 0 while the worker has
   *     the seat
   */
  record Seat(WorkerId worker, int tenancy, int zone, boolean isDisabled, long leftMicros) {
    boolean isTaken() {
      return leftMicros == 0;
    }

    /** Returns whether the seat counts for the owner of its worker. */
    private boolean isCharged(long nowMicros) {
      return isTaken() || nowMicros - leftMicros < ABANDONED_MICROS;
    }

    private Seat left(long nowMicros) {
      return new Seat(worker, tenancy, zone, isDisabled, nowMicros);
    }

    /** Returns this seat with a worker that has none. */
    private Seat takenBy(WorkerId next, int nextZone, boolean isNextDisabled) {
      boolean isSame = next.equals(worker) && nextZone == zone;
      return new Seat(next, isSame ? tenancy : (tenancy + 1) % Address.TENANCIES, nextZone, isNextDisabled, 0);
    }
  }

  /** A live worker: its zone, its queues, and the node that it calls. */
  record Live(String zone, Set<String> queues, String node) {}

  /** @throws IllegalArgumentException if a reader would refuse the number of zones or seats */
  FleetRecord {
    zones = List.copyOf(zones);
    seats = List.copyOf(seats);
    ensureCount(zones.size(), MAX);
    ensureCount(seats.size(), MAX);
  }

  /**
   * Returns a record that frees the seats of workers that are gone, and gives seats to the given workers. A worker gets
   * no seat if its owner has its share, or if its zone has no free seat, no seat can be added, and no seat of another
   * zone has been free for an hour.
   *
   * @param live all workers that some node vouches for
   * @param own the live workers that are to have a seat
   */
  FleetRecord seated(Map<WorkerId, Live> live, Set<WorkerId> own, long nowMicros) {
    List<Seat> all = new ArrayList<>(seats);
    Set<WorkerId> seated = new HashSet<>();
    for (int i = 0; i < all.size(); i++) {
      Seat seat = all.get(i);
      Live worker = live.get(seat.worker());
      boolean isThere = worker != null && worker.zone().equals(zones.get(seat.zone()));
      if (seat.isTaken() && (!isThere || !seated.add(seat.worker()))) {
        all.set(i, seat.left(nowMicros));
      }
    }
    Change change = new Change(new ArrayList<>(zones), all, nowMicros);
    for (WorkerId worker : own) {
      Live known = live.get(worker);
      if (known != null && seated.add(worker)) {
        change.seat(worker, known.zone());
      }
    }
    FleetRecord next = new FleetRecord(change.zones, change.seats);
    return next.equals(this) ? this : next;
  }

  /** A change of the seats that is being made. */
  private static final class Change {
    final List<String> zones;
    final List<Seat> seats;
    private final long nowMicros;
    private final Map<String, Integer> charged = new HashMap<>();
    private int allCharged;

    Change(List<String> zones, List<Seat> seats, long nowMicros) {
      this.zones = zones;
      this.seats = seats;
      this.nowMicros = nowMicros;
      seats.forEach(seat -> charge(seat, 1));
    }

    private void charge(Seat seat, int by) {
      if (seat.isCharged(nowMicros)) {
        charged.merge(seat.worker().owner(), by, Integer::sum);
        allCharged += by;
      }
    }

    /** Returns whether one more seat of an owner leaves at least as many seats as the owner then has. */
    private boolean hasShare(String owner) {
      return owner.isEmpty() || charged.getOrDefault(owner, 0) + 1 <= MAX - allCharged - 1;
    }

    void seat(WorkerId worker, String zoneName) {
      int zone = zones.indexOf(zoneName);
      int chosen = zone < 0 ? -1 : rested(worker, zone);
      if (chosen < 0 && seats.size() == MAX) {
        chosen = longestAbandoned();
      }
      boolean isOwn = chosen >= 0 && seats.get(chosen).isCharged(nowMicros)
          && seats.get(chosen).worker().owner().equals(worker.owner());
      boolean hasSeat = chosen >= 0 || seats.size() < MAX;
      if (!hasSeat || (!isOwn && !hasShare(worker.owner()))) {
        return;
      }
      zone = zone >= 0 ? zone : numberOf(zoneName, chosen);
      if (zone < 0) {
        return;
      }
      // A worker is disabled by its name: it stays disabled in another zone, on another seat.
      boolean isDisabled = seats.stream()
          .anyMatch(seat -> seat.isDisabled() && seat.worker().name().equals(worker.name()));
      Seat given;
      if (chosen >= 0) {
        charge(seats.get(chosen), -1);
        given = seats.get(chosen).takenBy(worker, zone, isDisabled);
        seats.set(chosen, given);
      } else {
        given = new Seat(worker, 0, zone, isDisabled, 0);
        seats.add(given);
      }
      charge(given, 1);
    }

    /** Returns the worker's old seat in a zone, else the seat of the zone that has rested longest; -1 if none has. */
    private int rested(WorkerId worker, int zone) {
      int longest = -1;
      for (int i = 0; i < seats.size(); i++) {
        Seat seat = seats.get(i);
        if (seat.isTaken() || seat.zone() != zone) {
          continue;
        }
        if (seat.worker().equals(worker)) {
          return i;
        }
        // A seat whose leftMicros is in the future continues to rest. This node's reading of the store's clock may be
        // stale, or that clock was set back.
        if (nowMicros - seat.leftMicros() >= REST_MICROS) {
          longest = leftFirst(longest, i);
        }
      }
      return longest;
    }

    /** Returns the seat of any zone that was left first, if that was at least an hour ago; else -1. */
    private int longestAbandoned() {
      int longest = -1;
      for (int i = 0; i < seats.size(); i++) {
        longest = seats.get(i).isCharged(nowMicros) ? longest : leftFirst(longest, i);
      }
      return longest;
    }

    private int leftFirst(int one, int other) {
      return one >= 0 && seats.get(one).leftMicros() <= seats.get(other).leftMicros() ? one : other;
    }

    /**
     * Adds a zone, and returns its number. If no zone can be added, the zone gets the number of a zone that has no seat
     * but the given one; -1 if there is no such zone.
     *
     * @param given the only seat that a replaced zone may have, or -1 for none
     */
    private int numberOf(String zoneName, int given) {
      if (zones.size() < MAX) {
        zones.add(zoneName);
        return zones.size() - 1;
      }
      Set<Integer> used = new HashSet<>();
      for (int i = 0; i < seats.size(); i++) {
        if (i != given) {
          used.add(seats.get(i).zone());
        }
      }
      int zone = 0;
      while (zone < MAX && used.contains(zone)) {
        zone++;
      }
      if (zone < MAX) {
        zones.set(zone, zoneName);
      }
      return zone < MAX ? zone : -1;
    }
  }

  /** Returns how many seats count for the owners of their workers. */
  int charged(long nowMicros) {
    return (int) seats.stream().filter(seat -> seat.isCharged(nowMicros)).count();
  }

  /** Returns the workers that have a seat. */
  Set<WorkerId> seated() {
    Set<WorkerId> workers = new HashSet<>();
    for (Seat seat : seats) {
      if (seat.isTaken()) {
        workers.add(seat.worker());
      }
    }
    return workers;
  }

  /**
   * Returns this record after the workers of a name were enabled or disabled, on their seats and on the seats that they
   * had before; null if no worker of the name has a seat.
   */
  @Nullable
  FleetRecord enabled(String name, boolean isEnabled) {
    if (seats.stream().noneMatch(seat -> seat.isTaken() && seat.worker().name().equals(name))) {
      return null;
    }
    return new FleetRecord(zones, seats.stream().map(seat -> seat.worker().name().equals(name)
        ? new Seat(seat.worker(), seat.tenancy(), seat.zone(), !isEnabled, seat.leftMicros())
        : seat).toList());
  }

  /** Returns the fleet of these seats and live workers. */
  Fleet fleet(Map<WorkerId, Live> live, long nowMicros) {
    List<Fleet.Seat> all = new ArrayList<>(seats.size());
    for (int i = 0; i < seats.size(); i++) {
      Seat seat = seats.get(i);
      Live worker = seat.isTaken() ? live.get(seat.worker()) : null;
      String zone = zones.get(seat.zone());
      int number = i + Address.PLACES * seat.tenancy();
      all.add(worker == null
          ? new Fleet.Seat(number, seat.worker(), zone, Set.of(), "", false, !seat.isDisabled())
          : new Fleet.Seat(number, seat.worker(), zone, worker.queues(), worker.node(), true, !seat.isDisabled()));
    }
    return new Fleet(all, zones, charged(nowMicros));
  }

  /** Returns the bytes of this record as the content of a document. */
  byte[] encode() {
    return DocumentFormat.encode(SUBJECT, out -> {
      out.varint(zones.size());
      zones.forEach(out::text);
      out.varint(seats.size());
      seats.forEach(seat -> out.text(seat.worker().owner()).text(seat.worker().name()).u8(seat.tenancy())
          .varint(seat.zone()).u8(seat.isDisabled() ? 1 : 0).u64(seat.leftMicros()));
    });
  }

  /**
   * Decodes the bytes of {@link #encode}.
   *
   * @throws io.foliot.core.store.format.UnreadableException if the bytes cannot be decoded
   */
  static FleetRecord decode(byte[] content) {
    return DocumentFormat.decode(SUBJECT, content, in -> {
      List<String> zones = new ArrayList<>();
      for (int i = ensureCount(in.varint(), MAX); i > 0; i--) {
        zones.add(in.text());
      }
      List<Seat> seats = new ArrayList<>();
      for (int i = ensureCount(in.varint(), MAX); i > 0; i--) {
        WorkerId worker = new WorkerId(in.text(), in.text());
        int tenancy = in.u8() % Address.TENANCIES;
        int zone = in.varint();
        if (zone >= zones.size()) {
          throw new IllegalArgumentException("a seat is in a zone that does not exist: zone=" + zone);
        }
        seats.add(new Seat(worker, tenancy, zone, in.u8() != 0, in.u64()));
      }
      return new FleetRecord(zones, seats);
    });
  }

  static int ensureCount(int count, int max) {
    if (count < 0 || count > max) {
      throw new IllegalArgumentException(
          "a document of the fleet has too many items: count=" + count + ", max=" + max);
    }
    return count;
  }
}
