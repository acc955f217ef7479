package io.foliot.client;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits that fail after {@link #BOUND_SECONDS}. */
final class Bound {
  static final long BOUND_SECONDS = 30;

  private static final long POLL_NANOS = 1_000_000;

  private Bound() {}

  static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(BOUND_SECONDS, SECONDS)).as("the latch reached zero within %s s", BOUND_SECONDS).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static <T> T take(BlockingQueue<T> queue) {
    try {
      T item = queue.poll(BOUND_SECONDS, SECONDS);
      if (item == null) {
        throw new AssertionError("the queue stayed empty for " + BOUND_SECONDS + " s");
      }
      return item;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static <T> T get(CompletableFuture<T> future) {
    return future.copy().orTimeout(BOUND_SECONDS, SECONDS).join();
  }

  static void awaitTrue(BooleanSupplier condition) {
    long begunNanos = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(NANOSECONDS.toSeconds(System.nanoTime() - begunNanos)).isLessThan(BOUND_SECONDS);
      LockSupport.parkNanos(POLL_NANOS);
    }
  }
}
