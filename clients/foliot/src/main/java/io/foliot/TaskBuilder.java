package io.foliot;

import io.foliot.api.OnConflict;
import java.sql.Connection;
import java.util.concurrent.CompletableFuture;

/**
 * A task before it is submitted. Not safe for use by several threads.
 *
 * @param <T> the type of the payload
 */
public interface TaskBuilder<T> {
  /**
   * Sets the task's key, at most 256 bytes of UTF-8. A queue has at most one live task per key: by default, a second
   * submit with the key resets that task to the new due time and payload.
   */
  TaskBuilder<T> key(String key);

  /** Sets the action to take if the key has a live task; by default that task is reset. */
  TaskBuilder<T> onConflict(OnConflict onConflict);

  /** Adds a header, which the handler can read. A task has at most 32 headers, of 8,192 characters in all. */
  TaskBuilder<T> header(String name, String value);

  /** Sets how many attempts the task gets in all, from 1 to 10,000. This replaces the setting of the queue. */
  TaskBuilder<T> attempts(int attempts);

  /**
   * Sets a name for this request, at most 256 bytes of UTF-8. If the tasks are kept by a server, the name is visible
   * ASCII. If the outcome of the submit is unknown, the submit can be repeated within 24 hours. Only the first request
   * takes effect. A repeat returns the id, generation and due time of the first request, with the result
   * {@link Submitted.Result#REPEATED}.
   */
  TaskBuilder<T> idempotencyKey(String name);

  /**
   * Includes the submit in a transaction of the caller: the task exists if the transaction commits, and never existed
   * if it rolls back. If the task is due within 5 s after the commit, it may fire up to a tenth of a second late.
   *
   * @param transaction a connection, with auto-commit off, to the database where the tasks are kept
   * @throws UnsupportedOperationException if the tasks are not kept in a database
   */
  TaskBuilder<T> with(Connection transaction);

  /**
   * Submits the task, and returns when it is durable. With a transaction, returns when the task has been written; the
   * commit makes it durable.
   *
   * @throws TransactionException if the database refuses the statement; the caller must roll the transaction back
   */
  Submitted submit(T payload);

  /**
   * Submits the task without waiting. The future fails with the exceptions that {@link #submit} throws. It may complete
   * on a thread of Foliot, so run longer work on another thread.
   *
   * @throws IllegalArgumentException if the payload cannot be encoded
   * @throws IllegalStateException if a {@linkplain #with transaction} is set, because only one thread at a time may use
   *     its connection
   */
  CompletableFuture<Submitted> submitAsync(T payload);
}
