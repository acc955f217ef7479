package io.foliot.bench.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Redisson's delayed queue. It moves due tasks to another queue, a hundred in each script, and consumers take them from
 * there. If a consumer dies between taking a task and running it, the task is lost. So Redisson runs tasks at most
 * once, which is a weaker promise than that of the other contenders.
 */
final class RedissonBacklog implements Backlog {
  private static final int OFFERED_AT_ONCE = 500;

  private final RedissonQueue queue;
  private final int consumers;
  private final int takenAtOnce;
  private final ExecutorService threads;
  private final List<Future<?>> running = new ArrayList<>();
  private volatile boolean stopped;

  RedissonBacklog(RedisSite site, int consumers, int takenAtOnce) {
    this.consumers = consumers;
    this.takenAtOnce = takenAtOnce;
    queue = new RedissonQueue(site);
    threads = Executors.newFixedThreadPool(consumers);
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
    for (int i = 0; i < consumers; i++) {
      running.add(threads.submit(() -> consume(ledger)));
    }
    queue.transfer();
  }

  private void consume(Ledger ledger) {
    while (!stopped) {
      List<Integer> tasks = queue.take(takenAtOnce);
      tasks.forEach(ledger::begun);
    }
  }

  @Override
  public boolean isDone() {
    return queue.waiting() == 0 && queue.due().isEmpty();
  }

  @Override
  public void close() {
    stopped = true;
    threads.close();
    queue.close();
    for (Future<?> consumer : running) {
      if (consumer.state() == Future.State.FAILED) {
        throw new IllegalStateException("a consumer must not fail", consumer.exceptionNow());
      }
    }
  }
}
