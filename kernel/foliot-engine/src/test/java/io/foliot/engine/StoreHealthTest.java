package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.store.StoreException;
import org.junit.jupiter.api.Test;

final class StoreHealthTest {
  private final LoopRig rig = new LoopRig();
  private final StoreHealth health = rig.health;

  private boolean isServing() {
    return health.isServing(rig.nowNanos);
  }

  private void called(boolean answers) {
    health.called("due", 1, rig.nowNanos, answers ? null : new StoreException("away", null), rig.nowNanos);
  }

  @Test
  void aStoreServesFromTheFirstAnswerToTheFirstFailure() {
    assertThat(isServing()).isFalse();
    called(true);
    assertThat(isServing()).isTrue();
    called(false);
    assertThat(isServing()).isFalse();
  }

  @Test
  void recoveryIsReportedOnce() {
    called(true);
    called(true);
    assertThat(rig.recoveries).containsExactly(rig.nowNanos);
    called(false);
    called(true);
    assertThat(rig.recoveries).hasSize(2);
  }

  @Test
  void aSilentStoreCountsAsUnavailable() {
    called(true);
    long silentNanos = rig.nowNanos + StoreHealth.SILENCE_NANOS;
    while (silentNanos - rig.nowNanos > 1) {
      rig.nowNanos = Math.min(rig.nowNanos + 100_000_000, silentNanos - 1);
      health.turn(rig.nowNanos);
    }
    assertThat(isServing()).isTrue();
    rig.nowNanos++;
    health.turn(rig.nowNanos);
    assertThat(isServing()).isFalse();
  }

  @Test
  void aLoopThatDidNotTurnHasNotMissedAnAnswer() {
    called(true);
    health.turn(rig.nowNanos);
    rig.nowNanos += 86_400_000_000_000L;
    health.turn(rig.nowNanos);
    assertThat(isServing()).as("the process was suspended for a day").isTrue();
    for (int i = 0; i < 30; i++) {
      rig.nowNanos += StoreHealth.SILENCE_NANOS / 30;
      health.turn(rig.nowNanos);
    }
    assertThat(isServing()).as("the store has not answered since").isFalse();
  }

  @Test
  void aRefusedWriteCountsUntilATimeoutOrAnAcceptedWrite() {
    called(true);
    health.writeFailed(false, rig.nowNanos);
    assertThat(isServing()).as("the store answers reads, and refuses writes").isFalse();
    rig.nowNanos += StoreHealth.UNWRITTEN_NANOS;
    assertThat(isServing()).as("no write was tried since").isTrue();
    health.writeFailed(false, rig.nowNanos);
    health.wrote();
    assertThat(isServing()).isTrue();
  }
}
