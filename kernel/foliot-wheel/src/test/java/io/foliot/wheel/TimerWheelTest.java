package io.foliot.wheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TimerWheelTest extends TimerQueueContract {
  @Override
  protected TimerQueue create(long startTick) {
    return new TimerWheel(startTick);
  }

  @Override
  protected TimerQueueModel model(long startTick) {
    return new WheelModel(startTick);
  }

  @Test
  void aHandleIsNotReusedOnceItsGenerationsAreUsedUp() {
    TimerWheel wheel = new TimerWheel(0);
    long first = wheel.schedule(1, 0);
    wheel.cancel(first);
    wheel.ageFreeCell(2);
    List<Long> handles = new ArrayList<>();
    handles.add(first);
    for (int i = 0; i < 10; i++) {
      long handle = wheel.schedule(1, i);
      assertThat(handles).doesNotContain(handle);
      handles.forEach(stale -> assertThat(wheel.cancel(stale)).isFalse());
      handles.add(handle);
      assertThat(wheel.cancel(handle)).isTrue();
    }
    assertThat(handles.stream().map(TimerWheel::cell).distinct()).as("used cells: the first was retired")
        .hasSize(2);
  }

  @Test
  void aDeadlineIsRoundedUpByAtMostItsSlack() {
    for (long slack : new long[]{0, 1, 62, 63, 64, 4094, 4095, 4096, 1L << 40, Long.MAX_VALUE - 1}) {
      for (long deadline : new long[]{Long.MIN_VALUE, -5000, -1, 0, 1, 63, 64, 65, 100_000, Long.MAX_VALUE}) {
        long coarse = SlotMap.coarsen(deadline, slack);
        assertThat(coarse).isGreaterThanOrEqualTo(deadline);
        assertThat(Math.subtractExact(coarse, 0) - deadline).isBetween(0L, slack);
      }
    }
    assertThat(SlotMap.coarsen(100, 63)).isEqualTo(128);
    assertThat(SlotMap.coarsen(100, 4095)).isEqualTo(4096);
    assertThatThrownBy(() -> SlotMap.coarsen(1, -1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aTimerWithSlackExpiresWithoutAMove() {
    TimerWheel wheel = new TimerWheel(1);
    wheel.schedule(5000, 4095, 7);
    assertThat(wheel.nextWake()).isEqualTo(8192);
    assertThat(wheel.advance(8192, 10, (handle, deadline, payload) -> assertThat(payload).isEqualTo(7))).isEqualTo(1);
  }

  @Test
  void aFarTimerNeedsOneWake() {
    TimerWheel wheel = new TimerWheel(12345);
    wheel.schedule(Long.MAX_VALUE, 1);
    assertThat(wheel.nextWake()).isEqualTo(Long.MAX_VALUE);
    List<Long> expired = new ArrayList<>();
    wheel.advance(Long.MAX_VALUE, 100, (handle, deadline, payload) -> expired.add(payload));
    assertThat(expired).containsExactly(1L);
  }

  @Test
  void pushingBackManyTimesLeavesTheEntryInPlace() {
    TimerWheel wheel = new TimerWheel(0);
    long handle = wheel.schedule(100, 1);
    for (int i = 0; i < 1000; i++) {
      wheel.reschedule(handle, 100 + i);
    }
    assertThat(wheel.nextWake()).isEqualTo(100);
    assertThat(wheel.advance(100, 10, (h, d, p) -> {
      throw new AssertionError("early");
    })).isPositive();
    assertThat(wheel.nextWake()).isEqualTo(1099);
  }

  @Test
  void theConstructorChecksTheCapacity() {
    assertThatThrownBy(() -> new TimerWheel(0, -1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new TimerWheel(0, Integer.MAX_VALUE)).isInstanceOf(IllegalArgumentException.class);
    assertThat(new TimerWheel(0, 5000).size()).isZero();
  }
}
