package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.coordination.Fleet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class FleetRecordTest {
  private static final long NOW_MICROS = 1_800_000_000_000_000L;
  private static final long MINUTE_MICROS = 60_000_000L;
  private static final FleetRecord.Live LIVE = new FleetRecord.Live("fra", Set.of("billing"), "node");

  /** A record whose only seat was left by the worker "old". */
  private final FleetRecord vacated = FleetRecord.EMPTY.seated(Map.of("old", LIVE), Set.of("old"), NOW_MICROS)
      .seated(Map.of(), Set.of(), NOW_MICROS);

  private FleetRecord joined(String worker, long nowMicros) {
    return vacated.seated(Map.of(worker, LIVE), Set.of(worker), nowMicros);
  }

  @Test
  void aSeatIsReservedForItsFormerWorkerForTenMinutes() {
    assertThat(joined("new", NOW_MICROS + 10 * MINUTE_MICROS - 1).seats()).hasSize(2);
    FleetRecord later = joined("new", NOW_MICROS + 10 * MINUTE_MICROS);
    assertThat(later.seats()).hasSize(1);
    assertThat(later.hasSeat("new")).isTrue();
  }

  @Test
  void aWorkerThatReturnsGetsItsFormerSeat() {
    assertThat(joined("old", NOW_MICROS + 1).seats()).hasSize(1);
    assertThat(joined("old", NOW_MICROS - 20 * MINUTE_MICROS).seats()).hasSize(1);
  }

  @Test
  void aDisabledWorkerStaysDisabledInAnotherZone() {
    FleetRecord disabled = FleetRecord.EMPTY.seated(Map.of("one", LIVE), Set.of("one"), NOW_MICROS)
        .enabled("one", false);
    FleetRecord.Live moved = new FleetRecord.Live("lon", Set.of("billing"), "node");
    FleetRecord next = disabled.seated(Map.of("one", moved), Set.of("one"), NOW_MICROS);
    assertThat(next.seats()).hasSize(2).allMatch(FleetRecord.Seat::isDisabled);
    assertThat(Seating.of(next.fleet(Map.of("one", moved)), "node").isDisabled("one")).isTrue();
    FleetRecord enabled = next.enabled("one", true);
    assertThat(enabled.seats()).noneMatch(FleetRecord.Seat::isDisabled);
    assertThat(Seating.of(enabled.fleet(Map.of("one", moved)), "node").isDisabled("one")).isFalse();
  }

  @Test
  void seatsAreReadAsTheyWereWrittenUpToTheLimit() {
    Map<String, FleetRecord.Live> live = new TreeMap<>();
    for (int i = 0; i < 3_000; i++) {
      live.put("worker-" + i, new FleetRecord.Live("zone-" + i, Set.of("billing"), "node"));
    }
    FleetRecord full = FleetRecord.EMPTY.seated(live, live.keySet(), NOW_MICROS);
    assertThat(full.seats()).hasSize(2_048);
    assertThat(full.zones()).hasSize(2_048);
    assertThat(FleetRecord.decode(full.encode())).isEqualTo(full);
  }

  /** A record in which each seat has a zone of its own and was left by its worker. */
  private static FleetRecord usedUp() {
    Map<String, FleetRecord.Live> live = new TreeMap<>();
    for (int i = 0; i < 2_100; i++) {
      live.put("made-up-" + i, new FleetRecord.Live("zone-" + i, Set.of("mine"), "node"));
    }
    return FleetRecord.EMPTY.seated(live, live.keySet(), NOW_MICROS).seated(Map.of(), Set.of(), NOW_MICROS);
  }

  @Test
  void namesOfWorkersDoNotUseUpSeatsAndZonesForEver() {
    Map<String, FleetRecord.Live> live = Map.of("one", LIVE, "two", LIVE, "three",
        new FleetRecord.Live("lon", Set.of("billing"), "node"));
    FleetRecord used = usedUp();
    assertThat(used.seated(live, live.keySet(), NOW_MICROS + 59 * MINUTE_MICROS).seated()).isEmpty();
    FleetRecord later = used.seated(live, live.keySet(), NOW_MICROS + 60 * MINUTE_MICROS);
    assertThat(later.seated()).containsExactlyInAnyOrder("one", "two", "three");
    assertThat(later.zones()).contains("fra", "lon").hasSize(2_048).doesNotHaveDuplicates();
    Fleet fleet = later.fleet(live);
    assertThat(live).allSatisfy((worker, present) -> assertThat(fleet.seatOf(worker).zone()).isEqualTo(present.zone()));
    assertThat(FleetRecord.decode(later.encode())).isEqualTo(later);
  }

  @Test
  void aSeatKeepsItsZoneWhileSeatsCanBeAdded() {
    FleetRecord.Live other = new FleetRecord.Live("lon", Set.of("billing"), "node");
    FleetRecord next = vacated.seated(Map.of("new", other), Set.of("new"), NOW_MICROS + 600 * MINUTE_MICROS);
    assertThat(next.zones()).containsExactly("fra", "lon");
    assertThat(next.seats()).extracting(FleetRecord.Seat::worker).containsExactly("old", "new");
  }

  @Test
  void aNodeWithAStaleClockGivesNoSeatAway() {
    FleetRecord stale = joined("new", NOW_MICROS - 25 * MINUTE_MICROS);
    assertThat(stale.seats()).hasSize(2);
    assertThat(stale.seats().get(0).worker()).isEqualTo("old");
  }
}
