package io.foliot.client;

/** The work of a queue that is pulled. */
@FunctionalInterface
public interface TaskHandler {
  /**
   * Does one task's work. It runs on a virtual thread of its own, and is interrupted if the lease is lost (the task was
   * cancelled, or the server could not be reached until the lease had ended) or if the worker stops without patience.
   *
   * <p>A task may come more than once. Its generation and attempt only grow, so a sink that remembers the last ones can
   * refuse what is stale.
   *
   * @return what to tell the server
   * @throws Exception for a failure: the server is told so, with the exception as the reason
   */
  Settlement handle(ClaimedTask task) throws Exception;
}
