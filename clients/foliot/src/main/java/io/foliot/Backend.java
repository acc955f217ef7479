package io.foliot;

import io.foliot.api.Cancellation;
import io.foliot.api.QueueConfig;
import io.foliot.core.Submission;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** An engine in this process, or a server. Safe for use by any thread. */
interface Backend extends AutoCloseable {
  /**
   * Creates the queue if it does not exist, and changes the given settings. This method returns once the settings are
   * in effect on the node that made the change.
   */
  void putQueue(String queue, UnaryOperator<QueueConfig> change);

  /**
   * Sets the handler of a queue on this node.
   *
   * @throws IllegalStateException if this backend cannot deliver the tasks of the queue to handlers, or if the queue
   *     has a handler already
   */
  void handle(String queue, RawHandler handler);

  /** Returns the exception for a second handler of a queue, which would silently take the tasks of the first. */
  static IllegalStateException secondHandler(String queue) {
    return new IllegalStateException("the queue has a handler in this process already; a queue has one: queue="
        + queue);
  }

  CompletableFuture<Submitted> submit(Submission submission);

  /** Makes the live task of a key due after a delay, counted from now. Returns whether there was a live task. */
  CompletableFuture<Boolean> touch(String queue, String key, Duration delay);

  CompletableFuture<Cancellation> cancel(String queue, String key);

  /**
   * Returns the calls that take part in a transaction of the caller.
   *
   * @throws UnsupportedOperationException if the tasks are not kept in a database
   */
  InTransaction with(Connection transaction);

  /**
   * Returns the recurring jobs.
   *
   * @throws UnsupportedOperationException if a server keeps them
   */
  RecurringJobs jobs();

  /**
   * Returns the workers of jobs in this process.
   *
   * @throws IllegalStateException if the module of the client is missing
   */
  Workers workers();

  /** Waits for a call, and returns its result or throws its exception. */
  <R> R await(CompletableFuture<R> call);

  @Override
  void close();

  /**
   * Calls that take part in a transaction. They throw {@link TransactionException} if the database refuses a
   * statement.
   */
  interface InTransaction {
    Submitted submit(Submission submission);

    boolean touch(String queue, String key, Duration delay);

    Cancellation cancel(String queue, String key);
  }

  /** A handler that gets the payload as bytes. */
  @FunctionalInterface
  interface RawHandler {
    void handle(byte[] payload, Attempt attempt) throws Exception;
  }
}
