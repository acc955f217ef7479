package io.foliot.core.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet.Seat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class FleetTest {
  private static final String QUEUE = "billing";

  private static Seat seat(int number, String zone, boolean isLive, boolean isEnabled) {
    return new Seat(number, "worker-" + number, zone, isLive ? Set.of(QUEUE) : Set.of(), "node", isLive, isEnabled);
  }

  private static Fleet fleet(Seat... seats) {
    return new Fleet(List.of(seats), List.of("fra", "lon"));
  }

  /** Returns the numbers of the seats that serve an address. */
  private static List<Integer> servers(Fleet fleet, Address address) {
    return fleet.seats().stream().filter(seat -> fleet.serves(seat, QUEUE, address)).map(Seat::number).toList();
  }

  @Test
  void aSeatIsServedByItsWorker() {
    Fleet fleet = fleet(seat(0, "fra", true, true), seat(1, "lon", true, true));
    assertThat(servers(fleet, new Address(Address.Kind.SEAT, 1))).containsExactly(1);
    assertThat(servers(fleet, new Address(Address.Kind.ZONE_SEAT, 0))).containsExactly(0);
    assertThat(servers(fleet, new Address(Address.Kind.ONLY, 0))).containsExactly(0);
    assertThat(servers(fleet, new Address(Address.Kind.ZONE, 1))).containsExactly(1);
    assertThat(servers(fleet, Address.ANYWHERE)).containsExactly(0, 1);
  }

  @Test
  void aDisabledSeatHasOneSubstituteUnlessForbidden() {
    for (int gone = 0; gone < 8; gone++) {
      for (boolean isLive : new boolean[]{true, false}) {
        Seat[] seats = new Seat[8];
        for (int i = 0; i < seats.length; i++) {
          // The seat at index "gone" is disabled. If isLive is false, its worker is not live either.
          seats[i] = seat(i, i % 2 == 0 ? "fra" : "lon", i != gone || isLive, i != gone);
        }
        Fleet fleet = fleet(seats);
        assertThat(servers(fleet, new Address(Address.Kind.SEAT, gone))).hasSize(1).doesNotContain(gone);
        int zone = gone % 2;
        assertThat(servers(fleet, new Address(Address.Kind.ZONE_SEAT, gone))).hasSize(1).doesNotContain(gone)
            .allMatch(number -> number % 2 == zone);
        assertThat(servers(fleet, new Address(Address.Kind.ONLY, gone))).isEmpty();
      }
    }
  }

  @Test
  void aZoneWithoutWorkersHasNoSubstitute() {
    Fleet fleet = fleet(seat(0, "fra", false, true), seat(1, "lon", true, true));
    assertThat(servers(fleet, new Address(Address.Kind.ZONE_SEAT, 0))).isEmpty();
    assertThat(servers(fleet, new Address(Address.Kind.ZONE, 0))).isEmpty();
    assertThat(servers(fleet, new Address(Address.Kind.SEAT, 0))).containsExactly(1);
  }

  @Test
  void aGoneWorkerMovesOnlyTheSeatsThatItServed() {
    Seat[] seats = new Seat[40];
    for (int i = 0; i < seats.length; i++) {
      seats[i] = seat(i, "fra", i >= 20, true);
    }
    Map<Integer, List<Integer>> before = servers(fleet(seats));
    seats[30] = seat(30, "fra", false, true);
    Map<Integer, List<Integer>> after = servers(fleet(seats));
    before.forEach((number, servers) -> {
      if (servers.contains(30)) {
        assertThat(after.get(number)).hasSize(1).doesNotContain(30);
      } else {
        assertThat(after.get(number)).isEqualTo(servers);
      }
    });
    assertThat(before.entrySet().stream().filter(each -> each.getKey() < 20).map(Map.Entry::getValue).distinct())
        .as("substitutes of the seats without a worker").hasSizeGreaterThan(8);
  }

  private static Map<Integer, List<Integer>> servers(Fleet fleet) {
    Map<Integer, List<Integer>> servers = new HashMap<>();
    fleet.seats().forEach(seat -> servers.put(seat.number(),
        servers(fleet, new Address(Address.Kind.SEAT, seat.number()))));
    return servers;
  }

  @Test
  void aWorkerOfAnotherQueueServesOnlyTheAddressAny() {
    Fleet fleet = fleet(seat(0, "fra", true, true));
    Seat worker = fleet.seats().getFirst();
    assertThat(fleet.serves(worker, "another", new Address(Address.Kind.SEAT, 0))).isFalse();
    assertThat(fleet.serves(worker, "another", Address.ANYWHERE)).isTrue();
  }

  @Test
  void aSubstituteIsChosenOnceForEachFleet() {
    Seat[] seats = new Seat[2_000];
    for (int i = 0; i < seats.length; i++) {
      seats[i] = seat(i, i % 4 < 2 ? "fra" : "lon", i % 2 == 0, true);
    }
    Fleet fleet = fleet(seats);
    for (int round = 0; round < 50; round++) {
      for (Seat seat : seats) {
        for (Address.Kind kind : new Address.Kind[]{Address.Kind.SEAT, Address.Kind.ZONE_SEAT, Address.Kind.ONLY}) {
          Seat server = fleet.server(QUEUE, new Address(kind, seat.number()));
          assertThat(server == null).isEqualTo(kind == Address.Kind.ONLY && !seat.isLive());
        }
      }
    }
    // 1,000 dead seats, each with 1,000 candidates of the queue and 500 of its zone.
    assertThat(fleet.weighed()).isEqualTo(1_500_000);
  }
}
