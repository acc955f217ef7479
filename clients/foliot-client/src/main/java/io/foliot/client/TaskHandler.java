package io.foliot.client;

/** Code that does the work of the tasks of a pull queue. */
@FunctionalInterface
public interface TaskHandler {
  /**
   * Does the work of one task. It runs on a virtual thread of its own. It is interrupted if the lease is lost (the task
   * was cancelled, or the server could not be reached until the lease ended), and if the worker stops and the grace is
   * over.
   *
   * <p>A task may be delivered more than once. Its generation and attempt only grow, so a sink that remembers the last
   * ones can refuse stale deliveries.
   *
   * @return the end of the attempt, which the worker reports to the server
   * @throws Exception if the attempt has failed; the worker reports the exception to the server as the reason
   */
  Settlement handle(ClaimedTask task) throws Exception;
}
