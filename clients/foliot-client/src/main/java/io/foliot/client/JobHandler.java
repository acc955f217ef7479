package io.foliot.client;

/** The work of a recurring job. */
@FunctionalInterface
public interface JobHandler {
  /**
   * Does the work of one shard. It runs on a virtual thread of its own. It is interrupted if the lease is lost, if the
   * run is stopped, and if the worker has stopped and its grace is over.
   *
   * <p>A shard may come more than once, also while an earlier attempt still works that has lost its lease. A sink that
   * must not be written by both compares {@link JobContext#fence}.
   *
   * @return the result of the work
   * @throws Exception for a failure: the shard is attempted again as its queue's retry policy has it, and the exception
   *         is the reason
   */
  JobResult handle(JobContext job) throws Exception;
}
