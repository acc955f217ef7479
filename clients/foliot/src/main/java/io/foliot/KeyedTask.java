package io.foliot;

import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** The task of a key, which may or may not exist. Immutable; any thread. */
public interface KeyedTask {
  /**
   * Moves the task's deadline to this delay from now. The payload stays. An attempt of an earlier generation that is
   * running may still end; the task fires again after it.
   *
   * @param delay from 0 to 100 years
   * @return whether there is a live task of this key
   */
  boolean touch(Duration delay);

  /** As {@link #touch}, without waiting. */
  CompletableFuture<Boolean> touchAsync(Duration delay);

  /** Cancels the task, and returns whether it can still run. */
  Cancellation cancel();

  /** As {@link #cancel}, without waiting. */
  CompletableFuture<Cancellation> cancelAsync();

  /**
   * Returns the same task as part of a transaction of the caller: a touch or cancel takes effect if it commits.
   *
   * @param transaction a connection, with auto-commit off, to the database where the tasks are kept
   * @throws UnsupportedOperationException if the tasks are not kept in a database
   */
  KeyedTask with(Connection transaction);
}
