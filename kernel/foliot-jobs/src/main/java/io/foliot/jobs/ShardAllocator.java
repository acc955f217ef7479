package io.foliot.jobs;

import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An application's own rule that divides the shards of a run among workers. An application that embeds Foliot registers
 * it under a name, and a job with {@link Allocation#OWN} says that name ({@link Job#allocator}).
 *
 * <pre>{@code
 * Foliot.builder().allocator("alternate", (job, workers) -> IntStream.range(0, job.shards())
 *     .mapToObj(shard -> workers.get(shard % 2 == 0 ? 0 : workers.size() - 1)).toList());
 * }</pre>
 *
 * <p>It is asked when a run begins, by the node that plans the job; with {@link Scope#PER_ZONE}, once for each zone.
 * The answer is stored with the run and stays until the run has ended. If a worker dies meanwhile, one other worker
 * takes its shards, which Foliot chooses; the next run asks again.
 *
 * <p>It is a function of its arguments alone, and the same on each node of the store: any of them may plan the job, a
 * plan that was not recorded is made again, and a caller that reads a job whose run waits causes a call as well. It is
 * called on threads of the engine, by several at once, while other tasks wait: it must not block, and should return
 * within microseconds.
 *
 * <p>A run whose allocator is not registered on the node that plans it, throws, returns null, returns fewer or more
 * workers than there are shards, or one that is not in the list, does not begin. It waits, is tried again every two
 * seconds, and the job says why; no other rule takes the place of this one. Times that come meanwhile are decided by
 * the job's {@link Overlap}. A run also waits while there is no worker, and the allocator is not asked then.
 */
@FunctionalInterface
public interface ShardAllocator {
  /** The longest name of an allocator, in characters. */
  int MAX_NAME = 64;

  /**
   * A worker that can be given shards.
   *
   * @param name its name, unique among the workers. A {@code JobWorker} has the name that it was given, a hyphen, and
   *     eight hexadecimal digits that are new at each start of its process; a node with handlers has its own name
   * @param zone the zone it is in, or empty
   */
  record Worker(String name, String zone) {
    private static final int DIGITS = 8;

    /** Returns whether it was given this name: it has it as it is, or with the digits of a start. Null is no name. */
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
   * @param job the job, with {@linkplain Job#shards as many shards} as workers must be returned
   * @param workers the live and enabled workers of its queue, at least one, in the order of their seats, which does not
   *     change while they are there; with {@link Scope#PER_ZONE}, those of one zone. Unmodifiable
   */
  List<Worker> allocate(Job job, List<Worker> workers);

  /** Returns whether an allocator may have this name: 1 to {@value #MAX_NAME} of {@code A-Z a-z 0-9 . _ -}. */
  static boolean isName(String name) {
    return Allocators.NAME.matcher(name).matches();
  }
}
