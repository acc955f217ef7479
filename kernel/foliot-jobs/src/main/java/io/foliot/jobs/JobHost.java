package io.foliot.jobs;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.store.Draft;
import io.foliot.core.store.SubmitResult;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * The calls that {@link Jobs} needs besides the calls of the store. The host is the node on which callers change jobs.
 * Thread-safe; no method blocks.
 */
@FunctionalInterface
public interface JobHost {
  /** The default of {@link #maxJobs}. */
  long MAX_JOBS = 1_000_000;

  /**
   * Writes drafts of the internal queue, and notifies the engine's loop so that the tasks fire on time. Returns the
   * results in the order of the drafts.
   */
  CompletableFuture<List<SubmitResult>> write(List<Draft> drafts);

  /** Returns whether a queue exists. A job whose queue does not exist is shown with an error. */
  default CompletionStage<Boolean> hasQueue(String queue) {
    return CompletableFuture.completedFuture(true);
  }

  /**
   * Returns whether the tasks of a queue run on workers; also true if the queue does not exist. Only workers have zones
   * and seats.
   */
  default CompletionStage<Boolean> hasWorkers(String queue) {
    return CompletableFuture.completedFuture(true);
  }

  /** Returns the maximum number of jobs: no job is created once the store has this many. */
  default long maxJobs() {
    return MAX_JOBS;
  }

  /** Returns the maximum number of jobs of a queue; by default, or if the queue does not exist, there is none. */
  default CompletionStage<Long> maxJobs(String queue) {
    return CompletableFuture.completedFuture(Long.MAX_VALUE);
  }

  /** Returns whether the tasks of queues with this target run on workers. */
  static boolean takenByWorkers(Target target) {
    return target.type().equals(Target.PULL) || target.type().equals(Target.LOCAL);
  }

  /**
   * Returns a host that calls these functions of an engine.
   *
   * @param write implements {@link #write}
   * @param findQueue returns the settings of a queue, or empty if it does not exist
   * @param maxJobs the maximum number of jobs
   */
  static JobHost of(Function<List<Draft>, CompletableFuture<List<SubmitResult>>> write,
      Function<String, CompletableFuture<Optional<QueueConfig>>> findQueue, long maxJobs) {
    return new JobHost() {
      @Override
      public CompletableFuture<List<SubmitResult>> write(List<Draft> drafts) {
        return write.apply(drafts);
      }

      @Override
      public CompletionStage<Boolean> hasQueue(String queue) {
        return findQueue.apply(queue).thenApply(Optional::isPresent);
      }

      @Override
      public CompletionStage<Boolean> hasWorkers(String queue) {
        return findQueue.apply(queue).thenApply(found -> found.isEmpty() || takenByWorkers(found.get().target()));
      }

      @Override
      public CompletionStage<Long> maxJobs(String queue) {
        return findQueue.apply(queue)
            .thenApply(found -> found.map(config -> (long) config.maxJobs()).orElse(Long.MAX_VALUE));
      }

      @Override
      public long maxJobs() {
        return maxJobs;
      }
    };
  }
}
