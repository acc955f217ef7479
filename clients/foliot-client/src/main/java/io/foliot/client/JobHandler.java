package io.foliot.client;

/** The handler of a recurring job. */
@FunctionalInterface
public interface JobHandler {
  /**
   * Does the work of one shard, on a virtual thread of its own. The thread is interrupted if the lease is lost, if the
   * run is stopped, or if the worker stops and its
   * {@linkplain JobWorker.Builder#grace grace} is over.
   *
   * <p>A shard may be delivered more than once, even while an earlier attempt that has lost its lease is still running.
   * A system that the handler writes to can compare values of {@link JobContext#fence}, to refuse the writes of the
   * earlier attempt.
   *
   * @return the result of the work
   * @throws Exception if the attempt has failed. The shard is attempted again according to the queue's retry policy,
   *         and the text of the exception is stored as the reason
   */
  JobResult handle(JobContext job) throws Exception;
}
