package io.foliot;

import java.time.Duration;
import java.time.Instant;

/**
 * The tasks of one queue. Any thread.
 *
 * <p>A setting belongs to the queue, not to this object: it is stored, holds on all nodes within a second, and stays
 * until it is set to another value. A method that sets one returns when it is in force on this node, and writes nothing
 * if the queue has that value already.
 *
 * @param <T> the type of the payloads
 */
public interface Tasks<T> {
  /**
   * Sets how failed attempts are repeated: after {@code backoff}, doubled each time up to ten minutes, or up to
   * {@code backoff} if that is longer; with a fifth of jitter. By default 5 attempts, and 1 second.
   *
   * @param attempts in all, from 1 to 10,000; a task whose last attempt fails is kept for 14 days as failed
   */
  Tasks<T> retry(int attempts, Duration backoff);

  /** Sets how many attempts run at once on all nodes together; without it there is no limit. */
  Tasks<T> concurrency(int attempts);

  /** Sets how many attempts begin per second on all nodes together, from 0.001; without it there is no limit. */
  Tasks<T> rate(double perSecond);

  /** Sets the priority, from -10 to 10, by default 0: each step doubles the queue's share of a busy node. */
  Tasks<T> priority(int priority);

  /**
   * Sets how long one attempt may take, by default 10 seconds, at most 24 hours. When it is over the thread of the
   * handler is interrupted, and the attempt has failed. It does not apply to handlers of tasks that a
   * {@linkplain Foliot#connect server} keeps: those last as long as their lease is extended.
   */
  Tasks<T> timeout(Duration timeout);

  /**
   * Sets the handler of the queue on this node, in force at once, in place of an earlier one; attempts under way keep
   * the handler that they began with. Each attempt runs on a thread of its own. Tasks of a
   * queue that has no handler on this node wait until this node or another node has a handler.
   *
   * @throws IllegalStateException if the queue is delivered in another way, for instance over HTTP
   */
  Tasks<T> handle(Handler<? super T> handler);

  /** Begins a task that is due after a delay, from 0 to 100 years. */
  TaskBuilder<T> in(Duration delay);

  /** Begins a task that is due at an instant; one in the past means now. */
  TaskBuilder<T> at(Instant dueAt);

  /** Begins a task that is due now. */
  TaskBuilder<T> now();

  /**
   * Returns the task of a key, to push it back or to cancel it. Does not ask the store.
   *
   * @param key at most 256 bytes of UTF-8
   */
  KeyedTask key(String key);
}
