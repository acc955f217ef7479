package io.foliot.core;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a queue: its target, retries, limits and retention. Immutable.
 *
 * @param name see {@link Limits#ensureQueueName}
 * @param target where and how to deliver
 * @param retry how failed attempts are repeated
 * @param priority from -10 to 10; on a busy node, a priority higher by one doubles the queue's share of the attempts
 * @param rate attempts that may begin per second, over the whole cluster; null for no limit
 * @param concurrency attempts that may run concurrently, over the whole cluster; null for no limit
 * @param maxWait how far resets may push a task beyond its first due time; null for no limit
 * @param maxRun how long extensions may keep one attempt running
 * @param maxJobs the maximum number of recurring jobs of the queue, 0 for none
 * @param maxShards while the jobs of the queue have this many unfinished shards, no further run of them begins
 * @param retainFinished how long finished and cancelled tasks can be read
 * @param retainFailed how long failed tasks can be read and redriven
 * @param paused whether the queue is paused, so that no new attempts begin
 */
public record QueueConfig(String name, Target target, Retry retry, int priority, @Nullable Double rate,
    @Nullable Integer concurrency, @Nullable Duration maxWait, Duration maxRun, int maxJobs, int maxShards,
    Duration retainFinished, Duration retainFailed, boolean paused) {
  /**
   * Default of {@link #maxRun}: a day. A handler divides longer work: each attempt does a part and re-arms the task.
   */
  public static final Duration DEFAULT_MAX_RUN = Duration.ofHours(24);
  /**
   * Default of {@link #maxJobs}. It is a hundredth of the jobs of a store, so that a caller that reaches one queue
   * cannot use them up.
   */
  public static final int DEFAULT_MAX_JOBS = 10_000;
  /** The largest {@link #maxJobs}. */
  public static final int LARGEST_MAX_JOBS = 100_000_000;
  /**
   * Default of {@link #maxShards}. It is ten runs of the largest size. Without a limit, runs that never end fill the
   * store: 100,000 shards without payloads need about 200 MB on disk.
   */
  public static final int DEFAULT_MAX_SHARDS = 100_000;
  /** The largest {@link #maxShards}. */
  public static final int LARGEST_MAX_SHARDS = 100_000_000;

  public QueueConfig {
    Limits.ensureQueueName(name);
    Limits.ensure(priority >= -10 && priority <= 10, "priority is from -10 to 10", priority);
    Limits.ensure(rate == null || (rate >= 0.001 && rate <= 1e9), "rate is from 0.001 to 10^9 a second",
        String.valueOf(rate));
    Limits.ensure(concurrency == null || concurrency >= 1, "concurrency is at least 1", String.valueOf(concurrency));
    if (maxWait != null) {
      Limits.ensureDuration("maxWait", maxWait);
    }
    Limits.ensureDuration("maxRun", maxRun);
    Limits.ensure(maxJobs >= 0 && maxJobs <= LARGEST_MAX_JOBS, "maxJobs is from 0 to 100,000,000", maxJobs);
    Limits.ensure(maxShards >= 1 && maxShards <= LARGEST_MAX_SHARDS, "maxShards is from 1 to 100,000,000", maxShards);
    Limits.ensureDuration("retention.finished", retainFinished);
    Limits.ensureDuration("retention.failed", retainFailed);
  }

  /** Returns a queue with defaults for all but its name and target. {@link #builder} sets the rest. */
  public static QueueConfig of(String name, Target target) {
    return builder(name, target).build();
  }

  /** Returns a builder of a queue; each of its settings has a default. */
  public static Builder builder(String name, Target target) {
    return new Builder(name, target);
  }

  /** Returns a builder with the settings of this queue. */
  public Builder toBuilder() {
    return new Builder(name, target).retry(retry).priority(priority).rate(rate).concurrency(concurrency)
        .maxWait(maxWait).maxRun(maxRun).maxJobs(maxJobs).maxShards(maxShards).retainFinished(retainFinished)
        .retainFailed(retainFailed).paused(paused);
  }

  /** Builds a {@link QueueConfig}. Not safe for use by several threads. */
  public static final class Builder {
    private final String name;
    private Target target;
    private Retry retry = Retry.DEFAULT;
    private int priority;
    private @Nullable Double rate;
    private @Nullable Integer concurrency;
    private @Nullable Duration maxWait;
    private Duration maxRun = DEFAULT_MAX_RUN;
    private int maxJobs = DEFAULT_MAX_JOBS;
    private int maxShards = DEFAULT_MAX_SHARDS;
    private Duration retainFinished = Duration.ofHours(1);
    private Duration retainFailed = Duration.ofDays(14);
    private boolean paused;

    private Builder(String name, Target target) {
      this.name = name;
      this.target = target;
    }

    /** Sets where and how tasks are delivered. */
    public Builder target(Target value) {
      target = value;
      return this;
    }

    /** Sets how failed attempts are repeated; {@link Retry#DEFAULT} by default. */
    public Builder retry(Retry value) {
      retry = value;
      return this;
    }

    /**
     * Sets the priority, from -10 to 10; 0 by default. On a busy node, a priority higher by one doubles the queue's
     * share of the attempts.
     */
    public Builder priority(int value) {
      priority = value;
      return this;
    }

    /**
     * Sets how many attempts may begin per second in the whole cluster, from 0.001 to 10^9; null, the default, for no
     * limit.
     */
    public Builder rate(@Nullable Double value) {
      rate = value;
      return this;
    }

    /**
     * Sets how many attempts may run concurrently in the whole cluster, at least 1; null, the default, for no limit.
     */
    public Builder concurrency(@Nullable Integer value) {
      concurrency = value;
      return this;
    }

    /**
     * Sets how far resets may push a task beyond its first due time, up to 100 years; null, the default, for no limit.
     */
    public Builder maxWait(@Nullable Duration value) {
      maxWait = value;
      return this;
    }

    /** Sets how long extensions may keep one attempt running, up to 100 years; by default a day. */
    public Builder maxRun(Duration value) {
      maxRun = value;
      return this;
    }

    /**
     * Sets the maximum number of recurring jobs of the queue, from 0 to 100,000,000; 10,000 by default. Jobs that exist
     * already stay.
     */
    public Builder maxJobs(int value) {
      maxJobs = value;
      return this;
    }

    /**
     * Sets the limit of the unfinished shards of the queue's jobs, from 1 to 100,000,000; 100,000 by default. While the
     * jobs have this many, no further run begins; a run that has begun gets all its shards.
     */
    public Builder maxShards(int value) {
      maxShards = value;
      return this;
    }

    /** Sets how long finished and cancelled tasks can be read, up to 100 years; by default 1 hour. */
    public Builder retainFinished(Duration value) {
      retainFinished = value;
      return this;
    }

    /** Sets how long failed tasks can be read and redriven, up to 100 years; by default 14 days. */
    public Builder retainFailed(Duration value) {
      retainFailed = value;
      return this;
    }

    /** Sets whether the queue is paused, so that no new attempts begin; false by default. */
    public Builder paused(boolean value) {
      paused = value;
      return this;
    }

    /**
     * Returns the queue.
     *
     * @throws IllegalArgumentException if the name or a setting is out of its range
     */
    public QueueConfig build() {
      return new QueueConfig(name, target, retry, priority, rate, concurrency, maxWait, maxRun, maxJobs, maxShards,
          retainFinished, retainFailed, paused);
    }
  }
}
