package io.foliot.bench.store;

/** A scheduler on one node, over tasks that do nothing. For one round and one thread. */
interface Backlog extends AutoCloseable {
  /** Puts tasks there that are all due, with numbers from 0, while nothing runs them. */
  void fill(int tasks) throws Exception;

  /** Begins to run them. Each tells the ledger its number and does nothing else. */
  void start(Ledger ledger) throws Exception;

  /** Returns whether the ends of all tasks are durable. Asked after all have begun. */
  boolean isDone() throws Exception;

  /**
   * Looks again, with all the time it needs.
   *
   * @throws IllegalStateException if the store still has something to do
   */
  default void ensureDone(int tasks) throws Exception {}

  /** Stops, and gives back what it holds. */
  @Override
  void close();
}
