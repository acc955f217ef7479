package io.foliot.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.engine.EngineOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class DefaultsTest {
  private static final EngineOptions ENGINE = EngineOptions.defaults("node");

  @Test
  void optionsOfTheEngineDefaultToThoseOfTheEngine() {
    Settings unset = new Settings();
    assertThat(unset.get(Option.LOOPS)).isEqualTo(ENGINE.loops());
    assertThat(unset.get(Option.WINDOW)).isEqualTo(Duration.ofMillis(ENGINE.windowMillis()));
    assertThat(unset.get(Option.WHEEL_ENTRIES)).isEqualTo(ENGINE.wheelEntries());
    assertThat(unset.get(Option.LANE_ENTRIES)).isEqualTo(ENGINE.laneEntries());
    assertThat(unset.get(Option.READY_ENTRIES)).isEqualTo(ENGINE.readyEntries());
    assertThat(unset.get(Option.CLAIM_BATCH)).isEqualTo(ENGINE.claimBatch());
    assertThat(unset.get(Option.CALL_ITEMS)).isEqualTo(ENGINE.callItems());
    assertThat(unset.get(Option.CALL_BYTES)).isEqualTo(ENGINE.callBytes());
    assertThat(unset.get(Option.LEASE_MARGIN)).isEqualTo(Duration.ofMillis(ENGINE.leaseMarginMillis()));
    assertThat(unset.get(Option.MAX_CLOCK_OFFSET)).isEqualTo(Duration.ofMillis(ENGINE.maxClockOffsetMillis()));
  }

  @Test
  void everyDefaultIsAnAllowedValue() {
    Settings unset = new Settings();
    assertThat(Option.all()).isNotEmpty()
        .allSatisfy(option -> assertThat(option.standard().isEmpty() || unset.get(option) != null).isTrue());
  }
}
