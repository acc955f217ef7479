package io.foliot.store.jdbc;

import io.foliot.core.Stages;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.StoreAwayException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The counts of the queues of a database. A count reads whole tables, so the result of a count is kept for some time,
 * and only one count runs at a time. Thread-safe; no thread waits for a count.
 */
final class QueueTally {
  /** Shortest time that counts are kept. */
  private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(10);
  /**
   * Shortest time from the beginning of a successful count to the beginning of the next count, as a multiple of the
   * duration of the successful count. So counts run for at most a twentieth of the time.
   */
  private static final int REST = 20;

  private final Supplier<CompletionStage<Map<String, QueueCounts>>> counter;
  private final LongSupplier nanos;
  private final AtomicReference<@Nullable Count> latest = new AtomicReference<>();

  /**
   * Creates a tally.
   *
   * @param counter begins a count
   * @param nanos the monotonic clock, in nanoseconds
   */
  QueueTally(Supplier<CompletionStage<Map<String, QueueCounts>>> counter, LongSupplier nanos) {
    this.counter = counter;
    this.nanos = nanos;
  }

  /** A count that is under way or has ended. */
  private final class Count {
    /** The latest counts before this count; null if there are none. */
    private final @Nullable Map<String, QueueCounts> earlier;
    private final CompletableFuture<Map<String, QueueCounts>> result = new CompletableFuture<>();
    private final long beganNanos = nanos.getAsLong();
    /** Time from the beginning of this count until the next count may begin. Written before the result. */
    private volatile long restNanos;

    Count(@Nullable Count before) {
      earlier = before == null ? null : before.newest();
    }

    private @Nullable Map<String, QueueCounts> newest() {
      return result.isCompletedExceptionally() ? earlier : result.getNow(earlier);
    }

    boolean isOld() {
      return result.isDone() && nanos.getAsLong() - beganNanos >= restNanos;
    }

    /**
     * Ends the count. After a failure, the next count may begin once as much time has passed as the failed count took.
     * Otherwise each call would repeat a statement that takes too long. If the failure shows that the database did
     * nothing, the next count may begin at once.
     */
    void end(@Nullable Map<String, QueueCounts> counts, @Nullable Throwable failure) {
      long tookNanos = nanos.getAsLong() - beganNanos;
      if (counts != null) {
        restNanos = Math.max(KEPT_NANOS, REST * tookNanos);
        result.complete(counts);
      } else if (failure != null) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
        restNanos = cause instanceof StoreAwayException ? 0 : 2 * tookNanos;
        result.completeExceptionally(cause);
      }
    }
  }

  /**
   * Returns the counts of each queue. If the latest counts are too old, begins a count and returns its result. While a
   * count is under way, other calls return the counts from before it. If there are none, they return the result of the
   * count that is under way.
   */
  CompletionStage<Map<String, QueueCounts>> counts() {
    Count found = latest.get();
    if (found == null || found.isOld()) {
      Count next = new Count(found);
      if (latest.compareAndSet(found, next)) {
        var ended = Stages.call(counter).whenComplete(next::end);
        assert ended != null;
        return next.result.copy();
      }
      found = latest.get();
    }
    assert found != null;
    Map<String, QueueCounts> earlier = found.earlier;
    return found.result.isDone() || earlier == null
        ? found.result.copy()
        : CompletableFuture.completedFuture(earlier);
  }
}
