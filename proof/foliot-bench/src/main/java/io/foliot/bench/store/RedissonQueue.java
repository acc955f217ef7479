package io.foliot.bench.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.IntegerCodec;
import org.redisson.config.Config;

/** Redisson's delayed queue of numbers in an empty Redis, and the queue that its elements come to when they are due. */
@SuppressWarnings("deprecation") // its successor is not in the open edition
final class RedissonQueue implements AutoCloseable {
  private static final String NAME = "bench";
  /** One for each consumer that waits, some for the transfer. */
  private static final int CONNECTIONS = 40;
  private static final int WAIT_SECONDS = 1;
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final RedissonClient client;
  private final RBlockingQueue<Integer> due;
  private final RDelayedQueue<Integer> delayed;

  RedissonQueue(RedisSite site) {
    Config config = new Config();
    config.setCodec(new IntegerCodec());
    config.useSingleServer().setAddress(site.fresh().uri()).setConnectionPoolSize(CONNECTIONS)
        .setConnectionMinimumIdleSize(CONNECTIONS);
    client = Redisson.create(config);
    due = client.getBlockingQueue(NAME);
    delayed = client.getDelayedQueue(due);
  }

  RBlockingQueue<Integer> due() {
    return due;
  }

  /** Returns how many wait, due or not, and are not transferred. */
  int waiting() {
    return delayed.size();
  }

  /** Offers numbers, all under way at once, and waits until all are answered. */
  void offerAll(int first, int count, long delayMillis) {
    CompletableFuture<?>[] answers = new CompletableFuture<?>[count];
    for (int i = 0; i < count; i++) {
      answers[i] = delayed.offerAsync(first + i, delayMillis, TimeUnit.MILLISECONDS).toCompletableFuture();
    }
    CompletableFuture.allOf(answers).join();
  }

  /** Takes due tasks up to a limit, or none if none arrives for a while. */
  List<Integer> take(int limit) {
    if (limit > 1) {
      List<Integer> taken = due.poll(limit);
      if (taken.isEmpty()) {
        LockSupport.parkNanos(IDLE_NANOS);
      }
      return taken;
    }
    try {
      Integer one = due.poll(WAIT_SECONDS, TimeUnit.SECONDS);
      return one == null ? List.of() : List.of(one);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while it waited for an element", e);
    }
  }

  /** Stops the transfer of what becomes due, until {@link #transfer}. */
  void hold() {
    delayed.destroy();
  }

  /** Begins to transfer what is due. */
  void transfer() {
    client.getDelayedQueue(due);
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
