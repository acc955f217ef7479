package io.foliot;

import io.foliot.api.Cancellation;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The task of a key in a backend.
 *
 * @param transaction the calls that take part in the caller's transaction; null outside of a transaction
 */
record DefaultKeyedTask(Backend backend, String queue, String key,
    Backend.@Nullable InTransaction transaction) implements KeyedTask {
  @Override
  public boolean touch(Duration delay) {
    return transaction == null
        ? backend.await(backend.touch(queue, key, delay))
        : transaction.touch(queue, key, delay);
  }

  @Override
  public CompletableFuture<Boolean> touchAsync(Duration delay) {
    ensureNoTransaction();
    return backend.touch(queue, key, delay);
  }

  @Override
  public Cancellation cancel() {
    return transaction == null ? backend.await(backend.cancel(queue, key)) : transaction.cancel(queue, key);
  }

  @Override
  public CompletableFuture<Cancellation> cancelAsync() {
    ensureNoTransaction();
    return backend.cancel(queue, key);
  }

  private void ensureNoTransaction() {
    if (transaction != null) {
      throw new IllegalStateException("a call in a transaction cannot be asynchronous: call touch or cancel");
    }
  }

  @Override
  public KeyedTask with(Connection connection) {
    return new DefaultKeyedTask(backend, queue, key, backend.with(connection));
  }
}
