package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

final class VouchersTest {
  private static final long NOW_MICROS = 1_800_000_000_000_000L;
  private static final long SECOND_MICROS = 1_000_000L;
  private static final long HOUR_MICROS = 3_600 * SECOND_MICROS;

  private final Vouchers.Sightings sightings = new Vouchers.Sightings();

  private boolean holds(long untilMicros, long nowMicros) {
    return sightings.holds("node", new Vouchers(untilMicros, Map.of()), nowMicros);
  }

  @Test
  void aDeclarationHoldsUntilItsEnd() {
    assertThat(holds(NOW_MICROS + 1, NOW_MICROS)).isTrue();
    assertThat(holds(NOW_MICROS, NOW_MICROS)).isFalse();
    assertThat(holds(NOW_MICROS - HOUR_MICROS, NOW_MICROS)).isFalse();
  }

  @Test
  void aDeclarationFarAheadIsInvalidOnceItIsNotRenewed() {
    long farAhead = NOW_MICROS + HOUR_MICROS;
    assertThat(holds(farAhead, NOW_MICROS)).isTrue();
    assertThat(holds(farAhead, NOW_MICROS + Vouchers.VALID_MICROS - 1)).isTrue();
    assertThat(holds(farAhead, NOW_MICROS + Vouchers.VALID_MICROS)).isFalse();
    assertThat(holds(farAhead, NOW_MICROS + 2 * Vouchers.VALID_MICROS)).isFalse();
  }

  @Test
  void aDeclarationFarAheadThatIsRenewedHolds() {
    for (int i = 0; i < 20; i++) {
      assertThat(holds(NOW_MICROS + HOUR_MICROS + i * SECOND_MICROS, NOW_MICROS + i * SECOND_MICROS)).isTrue();
    }
  }

  @Test
  void aClockThatIsSetBackAgainIsNoEvidence() {
    long farAhead = NOW_MICROS + HOUR_MICROS;
    assertThat(holds(farAhead, NOW_MICROS)).isTrue();
    assertThat(holds(farAhead, NOW_MICROS - HOUR_MICROS)).isTrue();
    assertThat(holds(farAhead, NOW_MICROS - HOUR_MICROS + Vouchers.VALID_MICROS)).isFalse();
  }
}
