package io.foliot.client;

import org.jspecify.annotations.Nullable;

/**
 * Sees each attempt of a handler on a worker: for audits, traces, contexts of a thread. Called on the thread of the
 * handler, so by many threads at once.
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
   * @param result what the handler returned
   * @param failure what the handler, or a later listener's {@code before}, threw
   * @throws Exception is given to the worker's {@code onError}; the attempt ends as the handler has ended it, because
   *         its work is done
   */
  default void after(JobContext job, @Nullable JobResult result, @Nullable Throwable failure) throws Exception {}
}
