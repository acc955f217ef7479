package io.foliot.bench.timer;

import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;

/**
 * A {@link DelayQueue} with a thread that takes from it. A cancel searches the queue, because the queue has no faster
 * way to remove an element.
 */
final class DelayQueuePeer implements Peer {
  private static final class Task implements Delayed {
    private final Runnable task;
    private final long deadlineNanos;

    Task(Runnable task, long deadlineNanos) {
      this.task = task;
      this.deadlineNanos = deadlineNanos;
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.signum(deadlineNanos - ((Task) other).deadlineNanos);
    }
  }

  private final DelayQueue<Task> queue = new DelayQueue<>();
  private final Thread consumer = Thread.ofPlatform().name("delay-queue").start(this::consume);

  private void consume() {
    try {
      while (true) {
        queue.take().task.run();
      }
    } catch (InterruptedException e) {
      // The peer was closed.
    }
  }

  @Override
  public Object schedule(Runnable task, long delayNanos) {
    Task delayed = new Task(task, System.nanoTime() + delayNanos);
    queue.add(delayed);
    return delayed;
  }

  @Override
  public void cancel(Object handle) {
    Peer.ensureWaited(queue.remove((Task) handle));
  }

  @Override
  public void close() {
    consumer.interrupt();
  }
}
