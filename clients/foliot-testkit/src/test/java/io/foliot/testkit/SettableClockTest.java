package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class SettableClockTest {
  private final SettableClock clock = new SettableClock(Instant.parse("2026-01-01T00:00:00.000001Z"));

  @Test
  void readingsAreConstantUntilTheClockIsAdvanced() {
    assertThat(clock.wallMicros()).isEqualTo(clock.wallMicros());
    assertThat(clock.monotonicNanos()).isEqualTo(clock.monotonicNanos());
    assertThat(clock.instant()).isEqualTo(Instant.parse("2026-01-01T00:00:00.000001Z"));
  }

  @Test
  void anAdvanceMovesBothReadings() {
    long wall = clock.wallMicros();
    long monotonic = clock.monotonicNanos();
    for (int i = 0; i < 1_000; i++) {
      clock.advance(Duration.ofNanos(1_001));
    }
    assertThat(clock.monotonicNanos() - monotonic).isEqualTo(1_001_000);
    assertThat(clock.wallMicros() - wall).as("no nanosecond is lost").isEqualTo(1_001);
  }

  @Test
  void aStepMovesOnlyTheWallClock() {
    long monotonic = clock.monotonicNanos();
    clock.advance(Duration.ofSeconds(5));
    clock.stepWall(Duration.ofHours(-1));
    assertThat(clock.instant()).isEqualTo(Instant.parse("2025-12-31T23:00:05.000001Z"));
    clock.setWall(Instant.EPOCH.minusMillis(1));
    assertThat(clock.wallMicros()).isEqualTo(-1_000);
    assertThat(clock.wallMillis()).isEqualTo(-1);
    assertThat(clock.monotonicNanos() - monotonic).isEqualTo(5_000_000_000L);
    clock.advance(Duration.ofMillis(1));
    assertThat(clock.instant()).isEqualTo(Instant.EPOCH);
  }

  @Test
  void aNegativeAdvanceIsRefused() {
    assertThatThrownBy(() -> clock.advance(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("stepWall");
  }

  @Test
  void aCenturyMayPass() {
    clock.advance(Duration.ofDays(36_525));
    assertThat(clock.instant()).isEqualTo(Instant.parse("2026-01-01T00:00:00.000001Z").plus(Duration.ofDays(36_525)));
  }
}
