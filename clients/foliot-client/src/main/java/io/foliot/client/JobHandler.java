package io.foliot.client;

/** The work of a recurring job. */
@FunctionalInterface
public interface JobHandler {
  /**
   * Does the work of one shard. It runs on a virtual thread of its own. It is interrupted if the lease is lost, if the
   * run is stopped, and if the worker stops and the grace is over.
   *
   * <p>A shard may be delivered more than once, even while an earlier attempt that has lost its lease is still running.
   * If the system that the handler writes to must not accept writes of both attempts, it compares their
   * {@link JobContext#fence}.
   *
   * @return the result of the work
   * @throws Exception if the attempt has failed. The shard is attempted again according to the queue's retry policy,
   *         and the exception is the reason
   */
  JobResult handle(JobContext job) throws Exception;
}
