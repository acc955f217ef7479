package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
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
  void aNodeWithAStaleClockGivesNoSeatAway() {
    FleetRecord stale = joined("new", NOW_MICROS - 25 * MINUTE_MICROS);
    assertThat(stale.seats()).hasSize(2);
    assertThat(stale.seats().get(0).worker()).isEqualTo("old");
  }
}
