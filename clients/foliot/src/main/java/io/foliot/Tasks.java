package io.foliot;

import java.time.Duration;
import java.time.Instant;

/**
 * The tasks of one queue. Safe for use by any thread.
 *
 * <p>A setting belongs to the queue, not to this object. It is stored, takes effect on all nodes within a second, and
 * stays until it is set to another value. A method that changes a setting returns when the change is in effect on the
 * node that made it: this node, or a node of the server. An engine in this process writes nothing if the queue already
 * has the new value.
 *
 * @param <T> the type of the payloads
 */
public interface Tasks<T> {
  /**
   * Sets how failed attempts are repeated. The first retry comes after {@code backoff}. The wait then doubles with each
   * retry, up to ten minutes, or up to {@code backoff} if that is longer. Jitter lengthens or shortens each wait by at
   * most 20 percent. The defaults are 5 attempts and 1 second.
   *
   * @param attempts the number of attempts in all, from 1 to 10,000. By default, a task whose last attempt fails is
   *     stored as failed for 14 days
   * @param backoff from 0 to 100 years
   */
  Tasks<T> retry(int attempts, Duration backoff);

  /**
   * Sets how many attempts may run at a time, on all nodes together; by default there is no limit.
   *
   * @param attempts at least 1
   */
  Tasks<T> concurrency(int attempts);

  /**
   * Sets how many attempts may begin per second on all nodes together; by default there is no limit.
   *
   * @param perSecond from 0.001 to 10^9
   */
  Tasks<T> rate(double perSecond);

  /**
   * Sets the priority, from -10 to 10, by default 0. Each step up doubles the queue's share of a busy node. A
   * difference of more than ten steps has the same effect as ten steps, a factor of 1,024.
   */
  Tasks<T> priority(int priority);

  /**
   * Sets how long one attempt may take, from 1 millisecond to 24 hours, by default 10 seconds. If the handler still
   * runs 250 ms after the end of this time, its thread is interrupted, and the attempt has failed. The timeout does not
   * apply to the tasks of a {@linkplain Foliot#connect server}: their handlers may run for as long as the lease is
   * extended.
   */
  Tasks<T> timeout(Duration timeout);

  /**
   * Sets how many recurring jobs the queue may have, from 0 to 100,000,000, by default 10,000; see {@link
   * Foliot#jobs}.
   */
  Tasks<T> maxJobs(int jobs);

  /**
   * Sets how many unfinished shards the jobs of the queue may have before no further run of them begins, from 1 to
   * 100,000,000, by default 100,000. A run that has begun gets all its shards.
   */
  Tasks<T> maxShards(int shards);

  /**
   * Sets the handler of the queue on this node. It takes effect at once. By default each attempt runs on a virtual
   * thread of its own. Tasks of a queue without a handler wait until this node or another node sets one.
   *
   * @throws IllegalStateException if the queue has a handler in this process, or if its tasks are delivered in another
   *     way, for example over HTTP
   */
  Tasks<T> handle(Handler<? super T> handler);

  /** Returns a builder of a task that is due after a delay, from 0 to 100 years. */
  TaskBuilder<T> in(Duration delay);

  /** Returns a builder of a task that is due at an instant; an instant in the past means now. */
  TaskBuilder<T> at(Instant dueAt);

  /** Returns a builder of a task that is due now. */
  TaskBuilder<T> now();

  /**
   * Returns a handle on the task of a key, to postpone or cancel it. This method does not call the store.
   *
   * @param key 1 to 256 bytes of UTF-8
   */
  KeyedTask key(String key);
}
