package io.foliot.client;

import org.jspecify.annotations.Nullable;

/**
 * Sees each attempt of a handler on a worker: for audits, traces, contexts of a thread. Sees also the start and the end
 * of each run, on one of the workers of its queue, if the job asks for that. Called on the thread of the handler, so by
 * many threads at once.
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
   * @throws Exception is given to the worker's {@code onError}; the attempt ends as the handler has ended it, because
   *         its work is done
   */
  default void after(JobContext job, @Nullable JobResult result, @Nullable Throwable failure) throws Exception {}

  /**
   * Called before the first shard of a run begins: on one worker, once, and again after an attempt that failed. Neither
   * the handler nor {@link #before} and {@link #after} are called for it. The context has the checkpoint, progress and
   * log of this call, which are those of no shard.
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
