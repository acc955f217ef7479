package io.foliot.wheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ObjectTimerWheelTest extends TimerQueueContract {
  @Override
  protected TimerQueue create(long startTick) {
    ObjectTimerWheel<Long> wheel = new ObjectTimerWheel<>(startTick);
    return new TimerQueue() {
      @Override
      public long schedule(long deadlineTick, long payload) {
        return wheel.schedule(deadlineTick, (Long) payload);
      }

      @Override
      public boolean cancel(long handle) {
        return wheel.cancel(handle);
      }

      @Override
      public boolean reschedule(long handle, long deadlineTick) {
        return wheel.reschedule(handle, deadlineTick);
      }

      @Override
      public long nextWake() {
        return wheel.nextWake();
      }

      @Override
      public int advance(long nowTick, int limit, Sink sink) {
        return wheel.advance(nowTick, limit, sink == null ? null : sink::accept);
      }

      @Override
      public int size() {
        return wheel.size();
      }

      @Override
      public long currentTick() {
        return wheel.currentTick();
      }

      @Override
      public void forEach(Sink visitor) {
        wheel.forEach(visitor == null ? null : visitor::accept);
      }
    };
  }

  @Override
  protected TimerQueueModel model(long startTick) {
    return new WheelModel(startTick);
  }

  @Test
  void anExpiredOrCancelledTimerReleasesItsObject() {
    ObjectTimerWheel<Object> wheel = new ObjectTimerWheel<>(0);
    long handle = wheel.schedule(5, new Object());
    wheel.schedule(6, new Object());
    List<WeakReference<Object>> seen = new ArrayList<>();
    wheel.forEach((h, deadline, object) -> seen.add(new WeakReference<>(object)));
    wheel.cancel(handle);
    wheel.advance(6, 10, (h, deadline, object) -> {});
    for (int i = 0; i < 100 && seen.stream().anyMatch(reference -> reference.get() != null); i++) {
      System.gc();
    }
    assertThat(seen).hasSize(2).allMatch(reference -> reference.get() == null);
  }

  @Test
  void nullIsRefused() {
    ObjectTimerWheel<Object> wheel = new ObjectTimerWheel<>(0);
    assertThatThrownBy(() -> wheel.schedule(1, null)).isInstanceOf(NullPointerException.class);
    assertThat(wheel.size()).isZero();
  }
}
