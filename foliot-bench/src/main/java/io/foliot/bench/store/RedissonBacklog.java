package io.foliot.bench.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Redisson's delayed queue: it moves what is due to another queue, a hundred in a script, and consumers take it from there.
 * What is taken is gone, also where the consumer dies before it has done anything: at most once, which is less than the
 * others promise.
 */
final class RedissonBacklog implements Backlog {
  private static final int OFFERED_AT_ONCE = 500;
  /** More only take from Redis the time that it needs for the transfer. */
  private static final int CONSUMERS = 2;
  private static final int TAKEN_AT_ONCE = 500;
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final RedissonQueue queue;
  private final ExecutorService consumers = Executors.newFixedThreadPool(CONSUMERS);
  private final List<Future<?>> running = new ArrayList<>();
  private volatile boolean stopped;

  RedissonBacklog(RedisSite site) {
    queue = new RedissonQueue(site);
  }

  @Override
  public void fill(int tasks) {
    queue.hold();
    for (int first = 0; first < tasks; first += OFFERED_AT_ONCE) {
      queue.offerAll(first, Math.min(OFFERED_AT_ONCE, tasks - first), 0);
    }
  }

  @Override
  public void start(Ledger ledger) {
    for (int i = 0; i < CONSUMERS; i++) {
      running.add(consumers.submit(() -> consume(ledger)));
    }
    queue.transfer();
  }

  private void consume(Ledger ledger) {
    while (!stopped) {
      List<Integer> taken = queue.take(TAKEN_AT_ONCE);
      taken.forEach(ledger::begun);
      if (taken.isEmpty()) {
        LockSupport.parkNanos(IDLE_NANOS);
      }
    }
  }

  @Override
  public boolean isDone() {
    return queue.waiting() == 0 && queue.due().isEmpty();
  }

  @Override
  public void close() {
    stopped = true;
    consumers.close();
    queue.close();
    for (Future<?> one : running) {
      if (one.state() == Future.State.FAILED) {
        throw new IllegalStateException("a consumer must not fail", one.exceptionNow());
      }
    }
  }
}
