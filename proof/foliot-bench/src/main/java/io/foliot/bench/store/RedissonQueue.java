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

/** Redisson's delayed queue of numbers in an empty Redis, and the queue to which its elements move when due. */
@SuppressWarnings("deprecation") // the successor of RDelayedQueue is not in the open edition
final class RedissonQueue implements AutoCloseable {
  private static final String NAME = "bench";
  /** Number of connections: one for each waiting consumer, and some for the transfer. */
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

  /** Returns how many elements have not been transferred yet, due or not. */
  int waiting() {
    return delayed.size();
  }

  /** Offers consecutive numbers, all under way at the same time, and waits for all answers. */
  void offerAll(int first, int count, long delayMillis) {
    CompletableFuture<?>[] answers = new CompletableFuture<?>[count];
    for (int i = 0; i < count; i++) {
      answers[i] = delayed.offerAsync(first + i, delayMillis, TimeUnit.MILLISECONDS).toCompletableFuture();
    }
    CompletableFuture.allOf(answers).join();
  }

  /**
   * Takes up to this number of due elements. Returns an empty list if there is none: after 1 ms, or after 1 s if the
   * limit is 1.
   */
  List<Integer> take(int limit) {
    if (limit > 1) {
      List<Integer> taken = due.poll(limit);
      if (taken.isEmpty()) {
        LockSupport.parkNanos(IDLE_NANOS);
      }
      return taken;
    }
    try {
      Integer element = due.poll(WAIT_SECONDS, TimeUnit.SECONDS);
      return element == null ? List.of() : List.of(element);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for an element", e);
    }
  }

  /** Stops the transfer of due elements until {@link #transfer} is called. */
  void hold() {
    delayed.destroy();
  }

  /** Starts the transfer of due elements. */
  void transfer() {
    client.getDelayedQueue(due);
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
