package io.foliot.bench.store;

/** Something that callers call again and again. For one round. */
interface CallLoad extends AutoCloseable {
  /**
   * Makes one call and waits for its answer. Each caller is a thread of its own.
   *
   * @param caller the number of the caller, from 0
   * @param turn the number of that caller's call, from 0
   * @return how many items it was about
   * @throws IllegalStateException if the answer is not what it should be
   */
  int call(int caller, int turn) throws Exception;

  /**
   * Checks the contents of the server after all calls.
   *
   * @throws IllegalStateException if that is not what they said
   */
  void ensureDone(long items) throws Exception;

  @Override
  void close();
}
