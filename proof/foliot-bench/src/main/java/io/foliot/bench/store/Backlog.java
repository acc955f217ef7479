package io.foliot.bench.store;

/** A scheduler under test, and its backlog of tasks that do nothing. Used for one round, by one thread. */
interface Backlog extends AutoCloseable {
  /** Inserts tasks, numbered from 0, without running them. All of them are due by the end of {@link #start}. */
  void fill(int tasks) throws Exception;

  /** Begins to run the tasks. Each task reports its number to the ledger and does nothing else. */
  void start(Ledger ledger) throws Exception;

  /** Returns whether the ends of all tasks are durable. Called after all tasks have begun. */
  boolean isDone() throws Exception;

  /**
   * Checks the contents of the store after the measurement. This may take seconds.
   *
   * @param tasks the number of tasks that were drained
   * @throws IllegalStateException if the contents are wrong
   */
  default void ensureDone(int tasks) throws Exception {}

  /** Stops the scheduler and releases its resources. */
  @Override
  void close();
}
