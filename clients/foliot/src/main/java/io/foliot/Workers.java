package io.foliot;

import io.foliot.client.JobWorker;

/**
 * The workers of recurring jobs in this process. A worker claims the tasks of one queue, with a name and perhaps in a
 * zone. It can therefore take part in runs of any scope: on one worker, in each zone, or on all workers.
 *
 * <pre>{@code
 * foliot.workers().of("billing").zone("fra1").concurrency(8)
 *     .declare(Job.named("report").cron("0 2 * * *").timeZone("Europe/Berlin").shards(4))
 *     .handle("report", job -> JobResult.done(store(job.shardParameter(), job.fence())))
 *     .start();
 * }</pre>
 *
 * <p>{@link Foliot#close} stops the workers that were started here.
 */
public interface Workers {
  /**
   * Returns a builder of a worker for one queue. If the queue does not exist, it is created as a pull queue. The worker
   * has the name and the zone of this node unless it is given others. A worker in another zone needs another name too,
   * because a name belongs to one zone. The handlers of a worker run on virtual threads.
   *
   * @param queue from 1 to 128 characters of {@code A-Z a-z 0-9 . _ -}; the first is a letter or a digit, and the name
   *     does not begin with {@code foliot.}
   * @throws IllegalArgumentException if the name is not valid for a queue
   * @throws IllegalStateException if the tasks of the queue are delivered in another way, such as to
   *     {@link Tasks#handle}
   */
  JobWorker.Builder of(String queue);
}
