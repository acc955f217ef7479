package io.foliot.client;

import org.jspecify.annotations.Nullable;

/**
 * Observes each attempt of a handler on a worker, for example to write audits or traces, or to set up the context of a
 * thread. If the job sets {@link io.foliot.api.Job.Builder#runListeners}, listeners also observe the start or the end
 * of each run, on one worker of the queue. The methods are called on the threads of the attempts, and many threads may
 * call them concurrently.
 *
 * <p>Listeners are called in the order in which they were added; {@link #after} is called in the reverse order.
 */
public interface JobListener {
  /**
   * Called before the handler.
   *
   * @throws Exception if the attempt must not continue. The attempt then fails, without a call of the handler or of
   *         later listeners. Earlier listeners get the exception in {@link #after}
   */
  default void before(JobContext job) throws Exception {}

  /**
   * Called at the end of the attempt, after the handler, if {@link #before} of this listener returned. If {@code
   * before} of a later listener threw, the handler is not called, but this method is. Exactly one of {@code result} and
   * {@code failure} is null.
   *
   * @param result the result of the handler; null if there is a failure
   * @param failure the exception that the handler, or the {@code before} of a later listener, threw; null if none
   * @throws Exception if the listener failed. The exception is passed to the worker's {@code onError}; the attempt
   *         still ends with the result or failure of the handler
   */
  default void after(JobContext job, @Nullable JobResult result, @Nullable Throwable failure) throws Exception {}

  /**
   * Called on one worker before the first shard of a run begins. The call is an attempt of a separate task, which has
   * its own checkpoint, progress and log. The handler, {@link #before} and {@link #after} are not called for this task.
   *
   * @throws Exception if the listener failed. The attempt then fails without a call of later listeners, and the next
   *         attempt calls all listeners again. The shards wait until an attempt succeeds. If the last attempt fails,
   *         the shards do not begin
   */
  default void onRunStarted(JobContext job) throws Exception {}

  /**
   * Called on one worker after the last shard of a run has ended, in the same way as {@link #onRunStarted}.
   *
   * @throws Exception if the listener failed. The attempt then fails, and the next attempt calls all listeners again.
   *         The result of the run does not change
   */
  default void onRunEnded(JobContext job, RunEnd end) throws Exception {}
}
