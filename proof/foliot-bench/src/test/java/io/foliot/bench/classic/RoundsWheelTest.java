package io.foliot.bench.classic;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.wheel.TimerQueue;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RoundsWheelTest extends TickByTickContract {
  @Override
  protected TimerQueue create(long startTick) {
    return new RoundsWheel(startTick, 60);
  }

  @Override
  protected boolean wakesAsModelled() {
    return false;
  }

  @Test
  void aTimerStaysInItsSlotForTheRoundsOfItsDelay() {
    RoundsWheel wheel = new RoundsWheel(0, 8);
    wheel.schedule(19, 0);
    wheel.schedule(11, 1);
    wheel.schedule(3, 2);
    List<Long> ticks = new ArrayList<>();
    List<Long> wakes = new ArrayList<>();
    for (long tick = 0; tick <= 20; tick++) {
      wheel.advance(tick, 10, (handle, deadline, payload) -> ticks.add(wheel.currentTick()));
      wakes.add(wheel.nextWake());
    }
    assertThat(ticks).containsExactly(3L, 11L, 19L);
    assertThat(wakes.stream().distinct()).containsExactly(3L, 11L, 19L, TimerQueue.NEVER);
  }

  @Test
  void aWakeMayComeWholeRoundsEarly() {
    RoundsWheel wheel = new RoundsWheel(0, 8);
    wheel.schedule(19, 0);
    assertThat(wheel.nextWake()).isEqualTo(3);
    assertThat(wheel.advance(3, 10, (handle, deadline, payload) -> {})).isZero();
    assertThat(wheel.nextWake()).isEqualTo(11);
  }

  @Test
  void aVisitThatALimitStopsContinuesBehindVisitedTimers() {
    RoundsWheel wheel = new RoundsWheel(0, 8);
    long passed = wheel.schedule(11, 0);
    wheel.schedule(3, 1);
    long stopped = wheel.schedule(3, 2);
    wheel.schedule(3, 3);
    List<Long> expired = new ArrayList<>();
    assertThat(wheel.advance(3, 1, (handle, deadline, payload) -> expired.add(payload))).isEqualTo(1);
    assertThat(wheel.nextWake()).isEqualTo(3);
    assertThat(wheel.cancel(passed)).isTrue();
    assertThat(wheel.cancel(stopped)).isTrue();
    assertThat(wheel.advance(3, 10, (handle, deadline, payload) -> expired.add(payload))).isEqualTo(1);
    assertThat(expired).containsExactly(1L, 3L);
    assertThat(wheel.isEmpty()).isTrue();
  }
}
