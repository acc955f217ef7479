package io.foliot.bench.timer;

import io.foliot.wheel.Timeout;
import io.foliot.wheel.WheelTimer;
import java.util.concurrent.TimeUnit;

/** Foliot's timer with callbacks on its driver thread. */
final class WheelTimerPeer implements Peer {
  private final WheelTimer timer = WheelTimer.builder().inline().build();

  @Override
  public Object schedule(Runnable task, long delayNanos) {
    return timer.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void cancel(Object handle) {
    Peer.ensureWaited(((Timeout) handle).cancel());
  }

  @Override
  public Object reset(Object handle, Runnable task, long delayNanos) {
    Peer.ensureWaited(((Timeout) handle).reset(delayNanos, TimeUnit.NANOSECONDS));
    return handle;
  }

  @Override
  public void close() {
    timer.close();
  }
}
