package io.foliot.bench.store;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Calls of Redisson's {@code offerAsync}. All offers of a batch are under way at the same time. */
final class RedissonSubmits implements CallLoad {
  private static final long LATER_MILLIS = TimeUnit.DAYS.toMillis(1);

  private final RedissonQueue queue;
  private final int batch;
  private final AtomicInteger next = new AtomicInteger();

  RedissonSubmits(RedisSite site, int batch) {
    queue = new RedissonQueue(site);
    this.batch = batch;
  }

  @Override
  public int call(int caller, int turn) {
    queue.offerAll(next.getAndAdd(batch), batch, LATER_MILLIS);
    return batch;
  }

  @Override
  public void ensureDone(long items) {
    if (queue.waiting() != items) {
      throw new IllegalStateException("every element must wait: offered=" + items + ", waiting=" + queue.waiting());
    }
  }

  @Override
  public void close() {
    queue.close();
  }
}
