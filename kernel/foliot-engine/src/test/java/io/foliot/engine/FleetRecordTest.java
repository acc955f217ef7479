package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class FleetRecordTest {
  private static final WorkerId OLD = WorkerId.of("old");
  private static final WorkerId NEW = WorkerId.of("new");
  private static final WorkerId ONE = WorkerId.of("one");
  private static final long NOW_MICROS = 1_800_000_000_000_000L;
  private static final long MINUTE_MICROS = 60_000_000L;
  private static final FleetRecord.Live LIVE = new FleetRecord.Live("fra", Set.of("billing"), "node");

  /** A record whose only seat was left by the worker "old". */
  private final FleetRecord vacated = FleetRecord.EMPTY.seated(Map.of(OLD, LIVE), Set.of(OLD), NOW_MICROS)
      .seated(Map.of(), Set.of(), NOW_MICROS);

  private FleetRecord joined(WorkerId worker, long nowMicros) {
    return vacated.seated(Map.of(worker, LIVE), Set.of(worker), nowMicros);
  }

  @Test
  void aSeatIsReservedForItsFormerWorkerForTenMinutes() {
    assertThat(joined(NEW, NOW_MICROS + 10 * MINUTE_MICROS - 1).seats()).hasSize(2);
    FleetRecord later = joined(NEW, NOW_MICROS + 10 * MINUTE_MICROS);
    assertThat(later.seats()).hasSize(1);
    assertThat(later.seated()).contains(NEW);
  }

  @Test
  void aWorkerThatReturnsGetsItsFormerSeat() {
    assertThat(joined(OLD, NOW_MICROS + 1).seats()).hasSize(1);
    assertThat(joined(OLD, NOW_MICROS - 20 * MINUTE_MICROS).seats()).hasSize(1);
  }

  @Test
  void aDisabledWorkerStaysDisabledInAnotherZone() {
    FleetRecord disabled = FleetRecord.EMPTY.seated(Map.of(ONE, LIVE), Set.of(ONE), NOW_MICROS)
        .enabled("one", false);
    FleetRecord.Live moved = new FleetRecord.Live("lon", Set.of("billing"), "node");
    FleetRecord next = disabled.seated(Map.of(ONE, moved), Set.of(ONE), NOW_MICROS);
    assertThat(next.seats()).hasSize(2).allMatch(FleetRecord.Seat::isDisabled);
    assertThat(Seating.of(next.fleet(Map.of(ONE, moved), NOW_MICROS), "node").isDisabled(ONE)).isTrue();
    FleetRecord enabled = next.enabled("one", true);
    assertThat(enabled.seats()).noneMatch(FleetRecord.Seat::isDisabled);
    assertThat(Seating.of(enabled.fleet(Map.of(ONE, moved), NOW_MICROS), "node").isDisabled(ONE)).isFalse();
  }

  @Test
  void seatsAreReadAsTheyWereWrittenUpToTheLimit() {
    Map<WorkerId, FleetRecord.Live> live = new HashMap<>();
    for (int i = 0; i < 3_000; i++) {
      live.put(WorkerId.of("worker-" + i), new FleetRecord.Live("zone-" + i, Set.of("billing"), "node"));
    }
    FleetRecord full = FleetRecord.EMPTY.seated(live, live.keySet(), NOW_MICROS);
    assertThat(full.seats()).hasSize(2_048);
    assertThat(full.zones()).hasSize(2_048);
    assertThat(FleetRecord.decode(full.encode())).isEqualTo(full);
  }

  /** A record in which each seat has a zone of its own and was left by its worker. */
  private static FleetRecord usedUp() {
    Map<WorkerId, FleetRecord.Live> live = new HashMap<>();
    for (int i = 0; i < 2_100; i++) {
      live.put(WorkerId.of("made-up-" + i), new FleetRecord.Live("zone-" + i, Set.of("mine"), "node"));
    }
    return FleetRecord.EMPTY.seated(live, live.keySet(), NOW_MICROS).seated(Map.of(), Set.of(), NOW_MICROS);
  }

  @Test
  void namesOfWorkersDoNotUseUpSeatsAndZonesForEver() {
    WorkerId two = WorkerId.of("two");
    WorkerId three = WorkerId.of("three");
    Map<WorkerId, FleetRecord.Live> live = Map.of(ONE, LIVE, two, LIVE, three,
        new FleetRecord.Live("lon", Set.of("billing"), "node"));
    FleetRecord used = usedUp();
    assertThat(used.seated(live, live.keySet(), NOW_MICROS + 59 * MINUTE_MICROS).seated()).isEmpty();
    FleetRecord later = used.seated(live, live.keySet(), NOW_MICROS + 60 * MINUTE_MICROS);
    assertThat(later.seated()).containsExactlyInAnyOrder(ONE, two, three);
    assertThat(later.zones()).contains("fra", "lon").hasSize(2_048).doesNotHaveDuplicates();
    Fleet fleet = later.fleet(live, NOW_MICROS);
    assertThat(live).allSatisfy((worker, present) -> assertThat(fleet.seatOf(worker).zone()).isEqualTo(present.zone()));
    assertThat(FleetRecord.decode(later.encode())).isEqualTo(later);
  }

  @Test
  void aSeatKeepsItsZoneWhileSeatsCanBeAdded() {
    FleetRecord.Live other = new FleetRecord.Live("lon", Set.of("billing"), "node");
    FleetRecord next = vacated.seated(Map.of(NEW, other), Set.of(NEW), NOW_MICROS + 600 * MINUTE_MICROS);
    assertThat(next.zones()).containsExactly("fra", "lon");
    assertThat(next.seats()).extracting(FleetRecord.Seat::worker).containsExactly(OLD, NEW);
  }

  @Test
  void aNodeWithAStaleClockGivesNoSeatAway() {
    FleetRecord stale = joined(NEW, NOW_MICROS - 25 * MINUTE_MICROS);
    assertThat(stale.seats()).hasSize(2);
    assertThat(stale.seats().get(0).worker()).isEqualTo(OLD);
  }

  private static Map<WorkerId, FleetRecord.Live> crowd(String owner, int count) {
    Map<WorkerId, FleetRecord.Live> live = new HashMap<>();
    for (int i = 0; i < count; i++) {
      live.put(new WorkerId(owner, "made-up-" + i), new FleetRecord.Live("zone-" + owner + i, Set.of("q"), "node"));
    }
    return live;
  }

  @Test
  void anOwnerNeverTakesAllSeatsOrZones() {
    FleetRecord record = FleetRecord.EMPTY;
    for (int hour = 0; hour < 5; hour++) {
      // The names differ in each hour, and the owner calls without a pause.
      for (int part = 0; part < 4; part++) {
        long nowMicros = NOW_MICROS + (hour * 60 + part * 15) * MINUTE_MICROS;
        Map<WorkerId, FleetRecord.Live> live = new HashMap<>();
        for (int i = 0; i < 3_000; i++) {
          String name = hour + "-" + part + "-" + i;
          live.put(new WorkerId("greedy", name), new FleetRecord.Live("zone-" + name, Set.of("q"), "node"));
        }
        record = record.seated(live, live.keySet(), nowMicros);
        assertThat(record.charged(nowMicros)).isLessThanOrEqualTo(Address.PLACES / 2);
      }
    }
    WorkerId victim = new WorkerId("victim", "one");
    Map<WorkerId, FleetRecord.Live> live = Map.of(victim, LIVE);
    long nowMicros = NOW_MICROS + 5 * 60 * MINUTE_MICROS - 1;
    FleetRecord next = record.seated(live, live.keySet(), nowMicros);
    assertThat(next.seated()).containsExactly(victim);
    assertThat(next.fleet(live, nowMicros).zone("fra")).isNotNegative();
  }

  @Test
  void eachOwnerLeavesHalfOfTheRestToOthers() {
    Map<WorkerId, FleetRecord.Live> live = crowd("a", 2_048);
    FleetRecord record = FleetRecord.EMPTY.seated(live, live.keySet(), NOW_MICROS);
    assertThat(record.seated()).hasSize(1_024);
    live.putAll(crowd("b", 2_048));
    record = record.seated(live, live.keySet(), NOW_MICROS);
    assertThat(record.seated()).hasSize(1_024 + 512);
  }

  @Test
  void aNameIsAnotherWorkerForEachOwner() {
    WorkerId victim = new WorkerId("victim", "w");
    WorkerId thief = new WorkerId("thief", "w");
    FleetRecord record = FleetRecord.EMPTY.seated(Map.of(victim, LIVE), Set.of(victim), NOW_MICROS);
    Map<WorkerId, FleetRecord.Live> live = Map.of(victim, LIVE, thief,
        new FleetRecord.Live("evil", Set.of("other"), "node"));
    Fleet fleet = record.seated(live, Set.of(victim, thief), NOW_MICROS).fleet(live, NOW_MICROS);
    assertThat(fleet.seatOf(victim).zone()).isEqualTo("fra");
    assertThat(fleet.seatOf(thief).zone()).isEqualTo("evil");
  }

  @Test
  void anAddressNamesTheTenancyOfASeat() {
    Fleet before = vacated.seated(Map.of(OLD, LIVE), Set.of(OLD), NOW_MICROS).fleet(Map.of(OLD, LIVE), NOW_MICROS);
    long later = NOW_MICROS + 10 * MINUTE_MICROS;
    Fleet after = joined(NEW, later).fleet(Map.of(NEW, LIVE), later);
    Fleet.Seat old = before.seatOf(OLD);
    Fleet.Seat next = after.seatOf(NEW);
    assertThat(next.place()).isEqualTo(old.place());
    assertThat(after.server("billing", new Address(Address.Kind.ONLY, old.number()))).isNull();
    assertThat(after.server("billing", new Address(Address.Kind.ONLY, next.number()))).isEqualTo(next);
    assertThat(after.server("billing", new Address(Address.Kind.ZONE_SEAT, old.number()))).as("the substitute")
        .isEqualTo(next);
    assertThat(after.isOver(old.number())).isTrue();
    assertThat(before.isOver(next.number())).as("a fleet that is older than the seat").isFalse();
  }

  @Test
  void aWorkerThatReturnsToItsSeatHasTheSameAddress() {
    Fleet before = FleetRecord.EMPTY.seated(Map.of(OLD, LIVE), Set.of(OLD), NOW_MICROS)
        .fleet(Map.of(OLD, LIVE), NOW_MICROS);
    Fleet after = joined(OLD, NOW_MICROS + 1).fleet(Map.of(OLD, LIVE), NOW_MICROS);
    assertThat(after.seatOf(OLD).number()).isEqualTo(before.seatOf(OLD).number());
  }

  @Test
  void theNumbersOfTenanciesBeginAgain() {
    FleetRecord record = FleetRecord.EMPTY;
    Set<Integer> numbers = new HashSet<>();
    for (int i = 0; i < 2 * Address.TENANCIES; i++) {
      WorkerId worker = WorkerId.of("worker-" + i);
      long nowMicros = NOW_MICROS + i * 10L * MINUTE_MICROS;
      record = record.seated(Map.of(), Set.of(), nowMicros - 10 * MINUTE_MICROS)
          .seated(Map.of(worker, LIVE), Set.of(worker), nowMicros);
      numbers.add(record.fleet(Map.of(worker, LIVE), nowMicros).seatOf(worker).number());
      assertThat(FleetRecord.decode(record.encode())).isEqualTo(record);
    }
    assertThat(record.seats()).hasSize(1);
    assertThat(numbers).hasSize(Address.TENANCIES).allMatch(number -> number <= Address.MAX_NUMBER);
  }
}
