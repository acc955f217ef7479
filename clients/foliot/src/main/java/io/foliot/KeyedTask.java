package io.foliot;

import io.foliot.api.Cancellation;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A handle on the task of a key. The task need not exist. Immutable; safe for use by any thread. */
public interface KeyedTask {
  /**
   * Moves the task's deadline: the task becomes due after this delay, counted from now. The payload stays the same. If
   * an attempt is running, it continues, and the task fires again at the new deadline.
   *
   * @param delay from 0 to 100 years
   * @return whether there was a live task of this key; if not, nothing changed
   */
  boolean touch(Duration delay);

  /** Moves the task's deadline as {@link #touch} does, without waiting. */
  CompletableFuture<Boolean> touchAsync(Duration delay);

  /** Cancels the task. The result shows whether an attempt may still be running. */
  Cancellation cancel();

  /** Cancels the task as {@link #cancel} does, without waiting. */
  CompletableFuture<Cancellation> cancelAsync();

  /**
   * Returns a handle on the same task for a transaction of the caller: a touch or cancel takes effect if the
   * transaction commits.
   *
   * @param transaction a connection, with auto-commit off, to the database where the tasks are kept
   * @throws UnsupportedOperationException if the tasks are not kept in a database
   */
  KeyedTask with(Connection transaction);
}
