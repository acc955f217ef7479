package io.foliot.bench.store;

/** Calls that concurrent callers repeat during one round. */
interface CallLoad extends AutoCloseable {
  /**
   * Makes one call and waits for its answer. Each caller has its own thread.
   *
   * @param caller the number of the caller, from 0
   * @param turn the number of that caller's call, from 0
   * @return the number of items in the call
   * @throws IllegalStateException if the answer is wrong
   */
  int call(int caller, int turn) throws Exception;

  /**
   * Checks the contents of the server after all calls.
   *
   * @param items the sum of the results of all calls
   * @throws IllegalStateException if the contents do not match the answers of the calls
   */
  void ensureDone(long items) throws Exception;

  @Override
  void close();
}
