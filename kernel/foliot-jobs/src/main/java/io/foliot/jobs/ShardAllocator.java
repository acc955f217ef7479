package io.foliot.jobs;

import io.foliot.api.Allocation;
import io.foliot.api.Job;
import io.foliot.api.Overlap;
import io.foliot.api.Scope;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rule of the application that divides the shards of a run among workers. An application that embeds Foliot registers
 * the rule under a name, and a job with {@link Allocation#OWN} refers to that name ({@link Job#allocator}).
 *
 * <pre>{@code
 * Foliot.builder().allocator("alternate", (job, workers) -> IntStream.range(0, job.shards())
 *     .mapToObj(shard -> workers.get(shard % 2 == 0 ? 0 : workers.size() - 1)).toList());
 * }</pre>
 *
 * <p>The node that plans the job calls the allocator when a run begins; with {@link Scope#PER_ZONE}, once for each
 * zone. The result is stored with the run and does not change until the run has ended. If a worker dies in the
 * meantime, Foliot chooses another worker for the shards of the dead worker. The next run calls the allocator again.
 *
 * <p>An allocator must be a function of its arguments alone, and the same on each node of the store. Any node may plan
 * the job, and a plan that was not recorded is made again. Foliot also calls the allocator when a caller reads a job
 * whose run waits. Several threads of the engine may call the allocator at the same time. A call delays other tasks, so
 * it must not block, and should return within microseconds.
 *
 * <p>A run does not begin if its allocator is not registered on the node that plans the job. The same applies if the
 * allocator throws, returns null, returns more or fewer workers than there are shards, or returns a worker that is not
 * in the given list. The run waits and is tried again every two seconds. The status of the job shows the reason. No
 * other rule replaces the allocator. The job's {@link Overlap} decides the times that come in the meantime. The
 * allocator is not called while there is no worker: a run then waits. But with {@link Scope#PER_ZONE} and no named
 * zones, the time of the run is recorded as {@link PastRun.Result#NO_TARGETS}.
 */
@FunctionalInterface
public interface ShardAllocator {
  /** The longest name of an allocator, in characters. */
  int MAX_NAME = 64;

  /**
   * A worker that can be given shards.
   *
   * @param name the name of the worker, unique among the workers. For a {@code JobWorker} it is the configured name, a
   *     hyphen, and eight hexadecimal digits that are new at each start of its process. For a node with handlers it is
   *     the name of the node
   * @param zone the zone of the worker, or empty
   */
  record Worker(String name, String zone) {
    /** Hexadecimal digits at the end of the name of a {@code JobWorker}. */
    private static final int DIGITS = 8;

    /** Returns whether the worker has this name, with or without the digits at its end; false for null. */
    public boolean isNamed(@Nullable String given) {
      return given != null && isGiven(given);
    }

    private boolean isGiven(String given) {
      return name.equals(given) || (name.length() == given.length() + 1 + DIGITS && name.startsWith(given + '-')
          && name.substring(given.length() + 1).chars().allMatch(HexFormat::isHexDigit));
    }
  }

  /**
   * Returns the worker of each shard, from shard 0 on.
   *
   * @param job the job; {@link Job#shards} is the number of workers to return
   * @param workers the live and enabled workers of its queue, at least one, in the order of their seats; with
   *     {@link Scope#PER_ZONE}, those of one zone. While two workers are live, their order does not change. The list is
   *     unmodifiable
   */
  List<Worker> allocate(Job job, List<Worker> workers);

  /** Returns whether an allocator may have this name: 1 to {@value #MAX_NAME} of {@code A-Z a-z 0-9 . _ -}. */
  static boolean isName(String name) {
    return Allocators.NAME.matcher(name).matches();
  }
}
