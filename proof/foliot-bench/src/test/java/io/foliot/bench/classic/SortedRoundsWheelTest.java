package io.foliot.bench.classic;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.wheel.TimerQueue;
import org.junit.jupiter.api.Test;

final class SortedRoundsWheelTest extends TickByTickContract {
  @Override
  protected TimerQueue create(long startTick) {
    return new SortedRoundsWheel(startTick, 60);
  }

  @Test
  void theNextWakeIsTheEarliestDeadlineOfAnyRound() {
    SortedRoundsWheel wheel = new SortedRoundsWheel(0, 8);
    wheel.schedule(19, 0);
    long nearer = wheel.schedule(12, 1);
    assertThat(wheel.nextWake()).isEqualTo(12);
    wheel.cancel(nearer);
    assertThat(wheel.nextWake()).isEqualTo(19);
  }
}
