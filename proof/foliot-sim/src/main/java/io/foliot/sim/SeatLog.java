package io.foliot.sim;

import io.foliot.core.Address;
import io.foliot.core.store.format.DocumentFormat;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The history of the stored seats, and the rules that each write of the seats must keep. This class decodes the
 * document itself, and uses no code of the engine that assigns seats.
 */
final class SeatLog {
  static final String DOCUMENT = "seats";
  /** Time for which a seat must be free before another worker gets it. */
  private static final long REST_MILLIS = 600_000;

  /**
   * A seat. {@code tenancy} counts the workers that had it. {@code leftMicros} is the time at which its worker left, or
   * 0 while the worker has the seat.
   */
  record Seat(String worker, int tenancy, int zone, boolean isDisabled, long leftMicros) {
    boolean isTaken() {
      return leftMicros == 0;
    }
  }

  /** The content of the document. */
  record Seats(List<String> zones, List<Seat> seats) {
    static final Seats NONE = new Seats(List.of(), List.of());

    static Seats decode(byte[] content) {
      return DocumentFormat.decode(DOCUMENT, content, in -> {
        List<String> zones = new ArrayList<>();
        for (int left = in.varint(); left > 0; left--) {
          zones.add(in.text());
        }
        List<Seat> seats = new ArrayList<>();
        for (int left = in.varint(); left > 0; left--) {
          String owner = in.text();
          if (!owner.isEmpty()) {
            throw new IllegalArgumentException("all workers of the simulation have one owner: owner=" + owner);
          }
          seats.add(new Seat(in.text(), in.u8(), in.varint(), in.u8() != 0, in.u64()));
        }
        return new Seats(zones, seats);
      });
    }

    byte[] encode() {
      return DocumentFormat.encode(DOCUMENT, out -> {
        out.varint(zones.size());
        zones.forEach(out::text);
        out.varint(seats.size());
        seats.forEach(seat -> out.text("").text(seat.worker()).u8(seat.tenancy()).varint(seat.zone())
            .u8(seat.isDisabled() ? 1 : 0).u64(seat.leftMicros()));
      });
    }
  }

  private final Map<String, String> zoneOfWorker;
  private final Consumer<String> unmet;
  /** The time at which each seat was last left or taken. */
  private final List<Long> changedMillis = new ArrayList<>();
  /** The latest time at which each seat got another worker, or the worker of the seat was enabled or disabled. */
  private final List<Long> enabledMillis = new ArrayList<>();
  private Seats seats = Seats.NONE;

  /**
   * Creates a log without writes.
   *
   * @param zoneOfWorker the true zone of each worker
   * @param unmet receives each rule that was broken
   */
  SeatLog(Map<String, String> zoneOfWorker, Consumer<String> unmet) {
    this.zoneOfWorker = zoneOfWorker;
    this.unmet = unmet;
  }

  Seats seats() {
    return seats;
  }

  /** Compares a write of the document with the write before it. {@code cases} receives the cases that occurred. */
  void written(byte[] content, long nowMillis, Consumer<FleetCase> cases) {
    Seats before = seats;
    seats = Seats.decode(content);
    ensure(seats.zones().size() >= before.zones().size()
        && seats.zones().subList(0, before.zones().size()).equals(before.zones()), "zones keep their numbers");
    ensure(seats.seats().size() >= before.seats().size(), "a seat never disappears");
    Set<String> seated = new HashSet<>();
    for (int i = 0; i < seats.seats().size(); i++) {
      Seat now = seats.seats().get(i);
      ensure(!now.isTaken() || seated.add(now.worker()), "a worker has one seat: " + now.worker());
      ensure(seats.zones().get(now.zone()).equals(zoneOfWorker.get(now.worker())),
          "a worker's seat is in the worker's zone: seat " + i + " of " + now.worker());
      if (i >= before.seats().size()) {
        changedMillis.add(nowMillis);
        enabledMillis.add(nowMillis);
      } else {
        changed(i, before.seats().get(i), now, nowMillis, cases);
      }
    }
  }

  private void changed(int number, Seat before, Seat now, long nowMillis, Consumer<FleetCase> cases) {
    ensure(now.zone() == before.zone(), "a seat stays in its zone: seat " + number);
    if (now.isTaken() != before.isTaken() || !now.worker().equals(before.worker())) {
      changedMillis.set(number, nowMillis);
    }
    if (now.isDisabled() != before.isDisabled() || !now.worker().equals(before.worker())) {
      enabledMillis.set(number, nowMillis);
    }
    if (now.worker().equals(before.worker())) {
      if (now.isTaken() != before.isTaken()) {
        cases.accept(now.isTaken() ? FleetCase.SEAT_GIVEN_BACK : FleetCase.SEAT_LEFT);
      }
      return;
    }
    boolean isRested = !before.isTaken() && nowMillis - before.leftMicros() / 1_000 >= REST_MILLIS;
    ensure(isRested, "a seat goes to another worker only after a rest: seat " + number + " of " + before.worker()
        + " has " + now.worker());
    cases.accept(FleetCase.SEAT_GIVEN_TO_ANOTHER);
  }

  private void ensure(boolean isKept, String rule) {
    if (!isKept) {
      unmet.accept(rule);
    }
  }

  /** Returns whether a worker has a seat, and has had it since an instant. */
  boolean hasHad(String worker, int seat, long sinceMillis) {
    return seat < seats.seats().size() && seats.seats().get(seat).isTaken()
        && seats.seats().get(seat).worker().equals(worker) && changedMillis.get(seat) <= sinceMillis;
  }

  /** Returns whether a worker's seat has been enabled, or disabled if {@code isEnabled} is false, since an instant. */
  boolean hasBeenEnabled(String worker, boolean isEnabled, long sinceMillis) {
    for (int i = 0; i < seats.seats().size(); i++) {
      Seat seat = seats.seats().get(i);
      if (seat.worker().equals(worker) && seat.isDisabled() != isEnabled && enabledMillis.get(i) <= sinceMillis) {
        return true;
      }
    }
    return false;
  }

  /** Returns the worker that has a seat, or the latest worker that had it; empty if there is no such seat. */
  String workerOf(int seat) {
    return seat < seats.seats().size() ? seats.seats().get(seat).worker() : "";
  }

  /** Returns whether a worker has the seat and the tenancy of a number. */
  boolean has(String worker, int number) {
    int place = Address.place(number);
    return workerOf(place).equals(worker)
        && seats.seats().get(place).tenancy() * Address.PLACES + place == number;
  }
}
