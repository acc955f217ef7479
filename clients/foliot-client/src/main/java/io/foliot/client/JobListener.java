package io.foliot.client;

import org.jspecify.annotations.Nullable;

/**
 * Observes each attempt of a handler on a worker, for example for audits, traces or the context of a thread. If the job
 * asks for it, a listener also observes the start and the end of each run, on one of the workers of the queue. It is
 * called on the thread of the handler, so by many threads at once.
 *
 * <p>Several listeners are called in the order in which they were added, and after the handler in the reverse order.
 */
public interface JobListener {
  /**
   * Called before the handler.
   *
   * @throws Exception fails the attempt: the handler is not called, and neither are the listeners after this one. The
   *         listeners before it see the exception in {@link #after}
   */
  default void before(JobContext job) throws Exception {}

  /**
   * Called after the handler, if {@link #before} of this listener returned. Exactly one of the result and the failure
   * is not null.
   *
   * @param result the result of the handler
   * @param failure the exception that the handler, or the {@code before} of a later listener, threw
   * @throws Exception is passed to the worker's {@code onError}. The attempt still ends with the result of the handler,
   *         because its work is done
   */
  default void after(JobContext job, @Nullable JobResult result, @Nullable Throwable failure) throws Exception {}

  /**
   * Called before the first shard of a run begins: once, on one worker, and again after an attempt that failed. Neither
   * the handler nor {@link #before} nor {@link #after} is called for it. The context has a checkpoint, progress and log
   * of its own, separate from those of the shards.
   *
   * @throws Exception fails the attempt: the listeners after this one are not called, and all listeners are called
   *         again with the next attempt. The shards wait, and do not begin if the last attempt fails
   */
  default void onRunStarted(JobContext job) throws Exception {}

  /**
   * Called after the last shard of a run has ended, as {@link #onRunStarted} is.
   *
   * @throws Exception fails the attempt, as for {@link #onRunStarted}; the result of the run stays as it is
   */
  default void onRunEnded(JobContext job, RunEnd end) throws Exception {}
}
