package io.foliot.bench.timer;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Any {@link ScheduledExecutorService}. */
final class ExecutorPeer implements Peer {
  private final ScheduledExecutorService executor;

  ExecutorPeer(ScheduledExecutorService executor) {
    this.executor = executor;
  }

  @Override
  public Object schedule(Runnable task, long delayNanos) {
    Object handle = executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
    return handle;
  }

  @Override
  public void cancel(Object handle) {
    Peer.ensureWaited(((Future<?>) handle).cancel(false));
  }

  @Override
  public void close() {
    Object unfired = executor.shutdownNow();
    assert unfired != null;
  }
}
