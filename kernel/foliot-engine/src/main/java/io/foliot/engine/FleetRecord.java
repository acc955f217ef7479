package io.foliot.engine;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.format.DocumentFormat;
import java.util.ArrayList;
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
 * reused too. After its worker has gone, a seat rests for ten minutes before another worker gets it. A worker that
 * comes back in the same zone gets its old seat, unless another worker has it.
 *
 * @param zones the zones of all seats; the index of a zone is its number
 * @param seats all seats; the index of a seat is its number
 */
record FleetRecord(List<String> zones, List<Seat> seats) {
  static final FleetRecord EMPTY = new FleetRecord(List.of(), List.of());
  /** Maximum number of seats, and of zones. */
  private static final int MAX = Address.MAX_NUMBER + 1;
  private static final String SUBJECT = "seats";
  private static final long REST_MICROS = 600_000_000L;
  /** Time after which a seat that its worker has left may go to another zone, if no seat can be added. */
  private static final long ABANDONED_MICROS = 3_600_000_000L;

  /**
   * A seat.
   *
   * @param leftMicros when the worker of the seat was found to be gone, by the store's clock; 0 while the worker has
   *     the seat
   */
  record Seat(String worker, int zone, boolean isDisabled, long leftMicros) {
    boolean isTaken() {
      return leftMicros == 0;
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
   * no seat if its zone has no free seat, no seat can be added, and no seat of another zone has been free for an hour.
   *
   * @param live all workers that some node vouches for
   * @param own the live workers that are to have a seat
   */
  FleetRecord seated(Map<String, Live> live, Set<String> own, long nowMicros) {
    List<String> allZones = new ArrayList<>(zones);
    List<Seat> all = new ArrayList<>(seats);
    Set<String> seated = new HashSet<>();
    for (int i = 0; i < all.size(); i++) {
      Seat seat = all.get(i);
      Live worker = live.get(seat.worker());
      boolean isThere = worker != null && worker.zone().equals(zones.get(seat.zone()));
      if (seat.isTaken() && (!isThere || !seated.add(seat.worker()))) {
        all.set(i, new Seat(seat.worker(), seat.zone(), seat.isDisabled(), nowMicros));
      }
    }
    for (String worker : own) {
      Live known = live.get(worker);
      if (known != null && seated.add(worker)) {
        seat(worker, known.zone(), all, allZones, nowMicros);
      }
    }
    FleetRecord next = new FleetRecord(allZones, all);
    return next.equals(this) ? this : next;
  }

  private static void seat(String worker, String zoneName, List<Seat> all, List<String> allZones, long nowMicros) {
    // A worker is disabled by its name: it stays disabled in another zone, on another seat.
    boolean isDisabled = all.stream().anyMatch(seat -> seat.isDisabled() && seat.worker().equals(worker));
    int zone = allZones.indexOf(zoneName);
    int chosen = -1;
    for (int i = 0; i < all.size() && zone >= 0; i++) {
      Seat seat = all.get(i);
      if (seat.isTaken() || seat.zone() != zone) {
        continue;
      }
      if (seat.worker().equals(worker)) {
        chosen = i;
        break;
      }
      // A seat whose leftMicros is in the future continues to rest. This node's reading of the store's clock may be
      // stale, or that clock was set back.
      boolean isRested = nowMicros - seat.leftMicros() >= REST_MICROS;
      chosen = chosen < 0 && isRested ? i : chosen;
    }
    if (chosen >= 0) {
      all.set(chosen, new Seat(worker, zone, isDisabled, 0));
    } else if (all.size() < MAX) {
      zone = zone >= 0 ? zone : numberOf(zoneName, allZones, all, -1);
      if (zone >= 0) {
        all.add(new Seat(worker, zone, isDisabled, 0));
      }
    } else {
      int longest = longestAbandoned(all, nowMicros);
      if (longest >= 0) {
        zone = zone >= 0 ? zone : numberOf(zoneName, allZones, all, longest);
        if (zone >= 0) {
          all.set(longest, new Seat(worker, zone, isDisabled, 0));
        }
      }
    }
  }

  /** Returns the seat of any zone that was left first, if that was at least {@link #ABANDONED_MICROS} ago; else -1. */
  private static int longestAbandoned(List<Seat> all, long nowMicros) {
    int longest = -1;
    for (int i = 0; i < all.size(); i++) {
      Seat seat = all.get(i);
      if (!seat.isTaken() && nowMicros - seat.leftMicros() >= ABANDONED_MICROS
          && (longest < 0 || seat.leftMicros() < all.get(longest).leftMicros())) {
        longest = i;
      }
    }
    return longest;
  }

  /**
   * Adds a zone, and returns its number. If no zone can be added, the zone gets the number of a zone that has no seat
   * but the given one; -1 if there is no such zone.
   *
   * @param abandoned the only seat that a replaced zone may have, or -1 for none
   */
  private static int numberOf(String zoneName, List<String> allZones, List<Seat> all, int abandoned) {
    if (allZones.size() < MAX) {
      allZones.add(zoneName);
      return allZones.size() - 1;
    }
    Set<Integer> used = new HashSet<>();
    for (int i = 0; i < all.size(); i++) {
      if (i != abandoned) {
        used.add(all.get(i).zone());
      }
    }
    int zone = 0;
    while (zone < MAX && used.contains(zone)) {
      zone++;
    }
    if (zone < MAX) {
      allZones.set(zone, zoneName);
    }
    return zone < MAX ? zone : -1;
  }

  /** Returns the workers that have a seat. */
  Set<String> seated() {
    Set<String> workers = new HashSet<>();
    for (Seat seat : seats) {
      if (seat.isTaken()) {
        workers.add(seat.worker());
      }
    }
    return workers;
  }

  boolean hasSeat(String worker) {
    return seated().contains(worker);
  }

  /**
   * Returns this record after a worker was enabled or disabled, on its seat and on the seats that it had before; null
   * if the worker has no seat.
   */
  @Nullable
  FleetRecord enabled(String worker, boolean isEnabled) {
    if (!hasSeat(worker)) {
      return null;
    }
    return new FleetRecord(zones, seats.stream().map(seat -> seat.worker().equals(worker)
        ? new Seat(worker, seat.zone(), !isEnabled, seat.leftMicros())
        : seat).toList());
  }

  /** Returns the fleet of these seats and live workers. */
  Fleet fleet(Map<String, Live> live) {
    List<Fleet.Seat> all = new ArrayList<>(seats.size());
    for (int i = 0; i < seats.size(); i++) {
      Seat seat = seats.get(i);
      Live worker = seat.isTaken() ? live.get(seat.worker()) : null;
      String zone = zones.get(seat.zone());
      all.add(worker == null
          ? new Fleet.Seat(i, seat.worker(), zone, Set.of(), "", false, !seat.isDisabled())
          : new Fleet.Seat(i, seat.worker(), zone, worker.queues(), worker.node(), true, !seat.isDisabled()));
    }
    return new Fleet(all, zones);
  }

  /** Returns the bytes of this record as the content of a document. */
  byte[] encode() {
    return DocumentFormat.encode(SUBJECT, out -> {
      out.varint(zones.size());
      zones.forEach(out::text);
      out.varint(seats.size());
      seats.forEach(seat -> out.text(seat.worker()).varint(seat.zone()).u8(seat.isDisabled() ? 1 : 0)
          .u64(seat.leftMicros()));
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
        String worker = in.text();
        int zone = in.varint();
        if (zone >= zones.size()) {
          throw new IllegalArgumentException("a seat is in a zone that does not exist: zone=" + zone);
        }
        seats.add(new Seat(worker, zone, in.u8() != 0, in.u64()));
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
