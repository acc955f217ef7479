package io.foliot.client;

/** Code that does the work of a queue that is pulled. */
@FunctionalInterface
public interface TaskHandler {
  /**
   * Does one task's work. It runs on a virtual thread of its own, and is interrupted if the lease is lost (the task was
   * cancelled, or the server could not be reached until the lease had ended) or if the patience of a worker's stop has
   * ended.
   *
   * <p>A task may come more than once. Its generation and attempt only grow, so a sink that remembers the last ones can
   * refuse stale deliveries.
   *
   * @return the end of the attempt, for the server
   * @throws Exception for a failure, which is reported to the server with the exception as its reason
   */
  Settlement handle(ClaimedTask task) throws Exception;
}
