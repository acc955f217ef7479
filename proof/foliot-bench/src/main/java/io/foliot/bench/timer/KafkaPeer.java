package io.foliot.bench.timer;

import java.util.concurrent.TimeUnit;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.TimerTask;

/**
 * Kafka's timer with a thread that advances it, as Kafka's {@code ExpiredOperationReaper} does. Callbacks cannot run on
 * this thread: they run on the timer's own executor, which has one thread.
 */
final class KafkaPeer implements Peer {
  /** Longest time that Kafka's reaper waits for a bucket to expire. */
  private static final long REAPER_WAIT_MILLIS = 200;

  private static final class Task extends TimerTask {
    private final Runnable task;

    Task(Runnable task, long delayMillis) {
      super(delayMillis);
      this.task = task;
    }

    @Override
    public void run() {
      task.run();
    }
  }

  private final SystemTimer timer = new SystemTimer("comparison");
  private final Thread reaper = Thread.ofPlatform().name("kafka-reaper").start(this::reap);

  private void reap() {
    try {
      while (true) {
        timer.advanceClock(REAPER_WAIT_MILLIS);
      }
    } catch (InterruptedException e) {
      // The peer was closed.
    }
  }

  @Override
  public Object schedule(Runnable task, long delayNanos) {
    Task timerTask = new Task(task, ceilMillis(delayNanos));
    timer.add(timerTask);
    return timerTask;
  }

  /** Returns a delay in milliseconds, rounded up. */
  static long ceilMillis(long delayNanos) {
    return TimeUnit.NANOSECONDS.toMillis(delayNanos + 999_999);
  }

  @Override
  public void cancel(Object handle) {
    ((Task) handle).cancel();
  }

  @Override
  public void close() {
    reaper.interrupt();
    timer.close();
  }
}
