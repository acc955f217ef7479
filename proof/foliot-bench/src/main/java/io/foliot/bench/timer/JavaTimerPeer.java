package io.foliot.bench.timer;

import java.util.Timer;
import java.util.TimerTask;

/** A {@link Timer}, which keeps a cancelled task until the task would have run. */
final class JavaTimerPeer implements Peer {
  private static final class Task extends TimerTask {
    private final Runnable task;

    Task(Runnable task) {
      this.task = task;
    }

    @Override
    public void run() {
      task.run();
    }
  }

  private final Timer timer = new Timer("java-util-timer", false);

  @Override
  public Object schedule(Runnable task, long delayNanos) {
    Task timerTask = new Task(task);
    timer.schedule(timerTask, KafkaPeer.ceilMillis(delayNanos));
    return timerTask;
  }

  @Override
  public void cancel(Object handle) {
    Peer.ensureWaited(((Task) handle).cancel());
  }

  @Override
  public void close() {
    timer.cancel();
  }
}
