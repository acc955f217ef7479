package io.foliot.jobs;

import io.foliot.api.Job;
import io.foliot.core.coordination.Fleet.Seat;
import io.foliot.jobs.ShardAllocator.Worker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The {@link ShardAllocator}s of this process, and the check of their results. Thread-safe. */
final class Allocators {
  static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1," + ShardAllocator.MAX_NAME + '}');
  static final Allocators NONE = new Allocators(Map.of());
  /**
   * Maximum number of characters of a failure's text in a message. The text of an application's exception may be
   * longer.
   */
  private static final int MAX_TEXT = 256;

  private final Map<String, ShardAllocator> byName;

  /**
   * Thrown when a job's allocator is missing or does not choose a worker for each shard. The message is the reason why
   * a run waits.
   */
  static final class UnallocatedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    UnallocatedException(String reason, @Nullable Throwable cause) {
      super(reason, cause, false, false);
    }
  }

  Allocators(Map<String, ShardAllocator> byName) {
    this.byName = Map.copyOf(byName);
  }

  boolean has(String name) {
    return byName.containsKey(name);
  }

  /**
   * Ensures that this process has an allocator with this name.
   *
   * @throws UnallocatedException if it does not
   */
  void ensureHas(String name) {
    if (!has(name)) {
      throw new UnallocatedException("waits for " + missing(name), null);
    }
  }

  /** Returns the part of a message that names an allocator that this process lacks. */
  static String missing(String name) {
    return "its allocator, which this node does not have; each node of the store must register it: allocator=" + name;
  }

  /**
   * Returns the number of a seat for each shard, in the order of the shards, as the job's allocator chooses.
   *
   * @param workers the seats of the workers in the order of their numbers, at least one
   * @throws UnallocatedException if this process lacks the allocator, or it does not choose a worker for each shard
   */
  List<Integer> seats(Job job, List<Seat> workers) {
    ensureHas(job.allocator());
    ShardAllocator allocator = Objects.requireNonNull(byName.get(job.allocator()));
    Map<Worker, Integer> numbers = new HashMap<>();
    List<Worker> offered = new ArrayList<>(workers.size());
    for (Seat seat : workers) {
      Worker worker = new Worker(seat.worker(), seat.zone());
      if (numbers.putIfAbsent(worker, seat.number()) == null) {
        offered.add(worker);
      }
    }
    List<@Nullable Worker> chosen = call(allocator, job, List.copyOf(offered));
    if (chosen.size() != job.shards()) {
      throw refused(job, "returned " + chosen.size() + " workers for " + job.shards() + " shards");
    }
    List<Integer> seats = new ArrayList<>(chosen.size());
    for (int shard = 0; shard < chosen.size(); shard++) {
      Worker worker = chosen.get(shard);
      Integer number = worker == null ? null : numbers.get(worker);
      if (number == null) {
        throw refused(job, "gave shard " + shard + " to "
            + (worker == null ? "null" : "a worker that was not offered, " + worker));
      }
      seats.add(number);
    }
    return seats;
  }

  private static List<@Nullable Worker> call(ShardAllocator allocator, Job job, List<Worker> offered) {
    try {
      List<Worker> chosen = allocator.allocate(job, offered);
      if (chosen != null) {
        return new ArrayList<>(chosen);
      }
    } catch (Exception | AssertionError | LinkageError | StackOverflowError e) {
      throw new UnallocatedException(reason(job, "failed: " + e), e);
    }
    throw refused(job, "returned null");
  }

  private static UnallocatedException refused(Job job, String failure) {
    return new UnallocatedException(reason(job, failure), null);
  }

  private static String reason(Job job, String failure) {
    return "waits for its allocator, which " + failure.substring(0, Math.min(failure.length(), MAX_TEXT))
        + ": allocator=" + job.allocator();
  }
}
