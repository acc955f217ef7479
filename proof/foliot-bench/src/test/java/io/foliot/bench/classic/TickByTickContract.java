package io.foliot.bench.classic;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.wheel.TimerQueue;
import io.foliot.wheel.TimerQueueContract;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests queues that advance tick by tick. Any tick is valid, but an advance over many ticks is slow if timers wait. */
abstract class TickByTickContract extends TimerQueueContract {
  @Override
  protected final boolean takesAllTicks() {
    return false;
  }

  @Test
  void timersFireAroundZeroAndAtBothEndsOfTheTickRange() {
    for (long start : new long[]{Long.MIN_VALUE, -600, -64, -1, 0, Long.MAX_VALUE - 599}) {
      for (int step : new int[]{1, 7, 64, 599}) {
        TimerQueue queue = create(start);
        List<Long> expected = new ArrayList<>();
        for (long delay = 1; delay <= Math.min(599, maxDelay()); delay += 2) {
          queue.schedule(start + delay, delay);
          expected.add(delay);
        }
        List<Long> expired = new ArrayList<>();
        for (long elapsed = 0; elapsed < 599; elapsed += step) {
          queue.advance(start + Math.min(599, elapsed + step), Integer.MAX_VALUE, (handle, deadline, payload) -> {
            assertThat(deadline).isEqualTo(queue.currentTick()).isEqualTo(start + payload);
            expired.add(payload);
          });
        }
        assertThat(expired).as("from %s by %s", start, step).isEqualTo(expected);
        assertThat(queue.isEmpty()).isTrue();
      }
    }
  }

  @Test
  void anEmptyQueueAdvancesAnyDistanceAtOnce() {
    TimerQueue queue = create(Long.MIN_VALUE);
    assertThat(queue.advance(Long.MAX_VALUE - 100, 1, (handle, deadline, payload) -> {})).isZero();
    List<Long> ticks = new ArrayList<>();
    queue.schedule(Long.MAX_VALUE, 0);
    queue.schedule(Long.MAX_VALUE - 99, 0);
    queue.advance(Long.MAX_VALUE, 10, (handle, deadline, payload) -> ticks.add(queue.currentTick()));
    assertThat(ticks).containsExactly(Long.MAX_VALUE - 99, Long.MAX_VALUE);
  }
}
