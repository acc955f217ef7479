package io.foliot.bench.classic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.wheel.TimerQueue;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BoundedWheelTest extends TickByTickContract {
  private static final int SLOTS = 200;

  @Override
  protected TimerQueue create(long startTick) {
    return new BoundedWheel(startTick, SLOTS);
  }

  @Override
  protected long maxDelay() {
    return SLOTS - 1;
  }

  @Test
  void aDeadlineBeyondTheRangeIsRefusedWithoutEffect() {
    BoundedWheel wheel = new BoundedWheel(1000, 8);
    assertThat(wheel.maxDelayTicks()).isEqualTo(7);
    long last = wheel.schedule(1007, 7);
    for (long beyond : new long[]{1008, 1009, 5000, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> wheel.schedule(beyond, 0)).isInstanceOf(IllegalArgumentException.class)
          .hasMessage("a deadline must lie less than one revolution of the wheel ahead: deadlineTick=" + beyond
              + ", currentTick=1000, slots=8");
      assertThatThrownBy(() -> wheel.reschedule(last, beyond)).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(wheel.size()).isEqualTo(1);
    assertThat(wheel.nextWake()).isEqualTo(1007);
    List<Long> expired = new ArrayList<>();
    wheel.advance(1007, 10, (handle, deadline, payload) -> expired.add(payload));
    assertThat(expired).containsExactly(7L);
  }

  @Test
  void aDistanceThatOverflowsIsBeyondTheRange() {
    BoundedWheel wheel = new BoundedWheel(Long.MIN_VALUE, 8);
    assertThatThrownBy(() -> wheel.schedule(0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> wheel.schedule(Long.MAX_VALUE, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThat(wheel.isEmpty()).isTrue();
  }

  @Test
  void aSinkMayUseTheWholeRangeWhileItsSlotIsHandedOut() {
    BoundedWheel wheel = new BoundedWheel(0, 8);
    wheel.schedule(3, 0);
    wheel.schedule(3, 1);
    List<Long> ticks = new ArrayList<>();
    wheel.advance(20, 100, (handle, deadline, payload) -> {
      ticks.add(wheel.currentTick());
      assertThatThrownBy(() -> wheel.schedule(deadline + 8, payload)).isInstanceOf(IllegalArgumentException.class);
      wheel.schedule(deadline + 7, payload);
    });
    assertThat(ticks).containsExactly(3L, 3L, 10L, 10L, 17L, 17L);
  }

  @Test
  void aWheelWithoutSlotsIsRefused() {
    assertThatThrownBy(() -> new BoundedWheel(0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RoundsWheel(0, -1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SortedRoundsWheel(0, 0)).isInstanceOf(IllegalArgumentException.class);
  }
}
