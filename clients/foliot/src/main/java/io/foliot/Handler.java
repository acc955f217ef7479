package io.foliot;

/**
 * Code that does the work of a task. A task may be delivered more than once, for example after a crash or when an
 * attempt takes longer than its timeout.
 *
 * @param <T> the type of the payload
 */
@FunctionalInterface
public interface Handler<T> {
  /**
   * Does the work. If the handler returns, the task is finished, unless {@link Attempt#again} or {@link Attempt#fail}
   * was called. If the handler throws, the exception is logged, but at most one exception a second for each queue. The
   * attempt is repeated while the task has attempts left.
   *
   * @param payload the payload of the task
   * @param attempt the attempt, with other ways to end it
   * @throws Exception if the attempt has failed and should be repeated
   */
  void handle(T payload, Attempt attempt) throws Exception;
}
