package io.foliot;

import io.foliot.client.JobWorker;

/**
 * The workers of recurring jobs in this process. A worker claims the tasks of one queue, under a name and perhaps in a
 * zone, and is therefore a place where runs of any scope run: on one worker, in each zone, or on all.
 *
 * <pre>{@code
 * foliot.workers().of("billing").zone("fra1").concurrency(8)
 *     .declare(Job.named("report").cron("0 2 * * *").zone("Europe/Berlin").shards(4))
 *     .handle("report", job -> JobResult.done(store(job.shardParameter(), job.fence())))
 *     .start();
 * }</pre>
 *
 * <p>{@link Foliot#close} stops the workers that were started here.
 */
public interface Workers {
  /**
   * Returns the settings of a worker for one queue, and creates the queue, as one that workers pull from, if it does
   * not exist. The worker has the name and the zone of this node unless it is given others; one in another zone has
   * another name too, because a name is in one zone. Its handlers run on virtual threads.
   *
   * @param queue from 1 to 128 characters of {@code A-Z a-z 0-9 . _ -}
   * @throws IllegalArgumentException if the name is not one of a queue
   * @throws IllegalStateException if the tasks of the queue are delivered in another way, such as to
   *     {@link Tasks#handle}
   */
  JobWorker.Builder of(String queue);
}
