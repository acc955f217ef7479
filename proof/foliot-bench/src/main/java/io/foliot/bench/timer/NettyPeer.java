package io.foliot.bench.timer;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.TimeUnit;

/** Netty's timer with the shortest tick that it accepts, and with its default number of slots. */
final class NettyPeer implements Peer {
  private final HashedWheelTimer timer = new HashedWheelTimer(1, TimeUnit.MILLISECONDS, 512);

  @Override
  public Object schedule(Runnable task, long delayNanos) {
    return timer.newTimeout(timeout -> task.run(), delayNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void cancel(Object handle) {
    Peer.ensureWaited(((Timeout) handle).cancel());
  }

  @Override
  public void close() {
    timer.stop();
  }
}
