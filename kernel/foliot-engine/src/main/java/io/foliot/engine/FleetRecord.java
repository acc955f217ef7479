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
 * <p>Guarantees: a live worker has at most one seat, and a seat at most one worker. A seat stays in its zone for ever.
 * After its worker has gone, the seat rests for ten minutes before another worker gets it. A worker that comes back
 * in the same zone gets its old seat, unless another worker has it.
 *
 * @param zones the zones of all seats; the index of a zone is its number, and never changes
 * @param seats all seats; the index of a seat is its number
 */
record FleetRecord(List<String> zones, List<Seat> seats) {
  static final FleetRecord EMPTY = new FleetRecord(List.of(), List.of());
  /** Maximum number of seats, and of zones. */
  private static final int MAX = Address.MAX_NUMBER + 1;
  private static final String SUBJECT = "seats";
  private static final long REST_MICROS = 600_000_000L;

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

  FleetRecord {
    zones = List.copyOf(zones);
    seats = List.copyOf(seats);
  }

  /**
   * Returns a record that frees the seats of workers that are gone, and gives seats to the given workers. A worker gets
   * no seat in two cases: its zone has no free seat and no seat can be added, or its zone is new and no zone can be
   * added.
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
      boolean isSameWorker = all.get(chosen).worker().equals(worker);
      all.set(chosen, new Seat(worker, zone, isSameWorker && all.get(chosen).isDisabled(), 0));
    } else if (all.size() < MAX && (zone >= 0 || allZones.size() < MAX)) {
      if (zone < 0) {
        zone = allZones.size();
        allZones.add(zoneName);
      }
      all.add(new Seat(worker, zone, false, 0));
    }
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

  /** Returns this record after a worker was enabled or disabled; null if the worker has no seat. */
  @Nullable
  FleetRecord enabled(String worker, boolean isEnabled) {
    for (int i = 0; i < seats.size(); i++) {
      Seat seat = seats.get(i);
      if (seat.isTaken() && seat.worker().equals(worker)) {
        List<Seat> all = new ArrayList<>(seats);
        all.set(i, new Seat(worker, seat.zone(), !isEnabled, 0));
        return new FleetRecord(zones, all);
      }
    }
    return null;
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
      for (int i = ensureCount(in.varint()); i > 0; i--) {
        zones.add(in.text());
      }
      List<Seat> seats = new ArrayList<>();
      for (int i = ensureCount(in.varint()); i > 0; i--) {
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

  static int ensureCount(int count) {
    if (count < 0 || count > 2 * MAX) {
      throw new IllegalArgumentException(
          "a document of the fleet has too many items: count=" + count + ", max=" + 2 * MAX);
    }
    return count;
  }
}
