package io.foliot.client;

/** Handles the tasks of a pull queue. */
@FunctionalInterface
public interface TaskHandler {
  /**
   * Does the work of one task, on a virtual thread of its own. The thread is interrupted if the lease is lost, for
   * example because the task was cancelled, or the lease could not be extended in time. The thread is also interrupted
   * if the worker stops and its grace is over.
   *
   * <p>A task may be delivered more than once. The pair of generation and attempt, compared in this order, grows with
   * each delivery. A system that stores the greatest pair can therefore refuse stale deliveries.
   *
   * @return the settlement of the attempt; null fails the attempt
   * @throws Exception if the attempt has failed; the worker sends the text of the exception as the reason
   */
  Settlement handle(ClaimedTask task) throws Exception;
}
