package io.foliot.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a queue: its target, retries, limits and retention. {@link QueueFields} has the settings with their
 * bounds and defaults. Immutable; two of them are equal if their names and all settings are equal.
 */
public final class QueueConfig {
  private final String name;
  private final Values values;

  private QueueConfig(String name, Values values) {
    this.name = name;
    this.values = values;
  }

  /**
   * Returns a queue with these settings.
   *
   * @param name see {@link Limits#ensureQueueName}
   * @throws InvalidSettingException if a setting is missing or out of its bounds; the message names it and the bounds
   * @throws IllegalArgumentException if the name is not valid
   */
  public static QueueConfig of(String name, Values values) {
    Limits.ensureQueueName(name);
    InvalidSettingException.ensure(values.isSet(QueueFields.DELIVERY), QueueFields.DELIVERY.name(),
        QueueFields.DELIVERY.help(), "none");
    return new QueueConfig(name, values.checked(""));
  }

  /** Returns a queue with defaults for all but its name and target. {@link #builder} sets the rest. */
  public static QueueConfig of(String name, Target target) {
    return builder(name, target).build();
  }

  /** Returns a builder of a queue; each of its settings has a default. */
  public static Builder builder(String name, Target target) {
    return new Builder(name, Values.of(QueueFields.TABLE).with(QueueFields.DELIVERY, target));
  }

  /** Returns a builder with the settings of this queue. */
  public Builder toBuilder() {
    return new Builder(name, values);
  }

  /** Returns the name. */
  public String name() {
    return name;
  }

  /** Returns the settings. */
  public Values values() {
    return values;
  }

  /** Returns this queue with another value of a setting; null is the default. */
  public <T> QueueConfig with(Field<T> field, @Nullable T value) {
    return toBuilder().set(field, value).build();
  }

  /** Returns where and how to deliver. */
  public Target target() {
    return values.require(QueueFields.DELIVERY);
  }

  /** Returns how failed attempts are repeated. */
  public Retry retry() {
    return values.require(QueueFields.RETRY);
  }

  /**
   * Returns the priority, from -10 to 10. On a busy node, a priority higher by one doubles the queue's share of the
   * attempts.
   */
  public int priority() {
    return values.require(QueueFields.PRIORITY);
  }

  /** Returns the attempts that may begin per second, over the whole cluster; null for no limit. */
  public @Nullable Double rate() {
    return values.get(QueueFields.RATE);
  }

  /** Returns the attempts that may run concurrently, over the whole cluster; null for no limit. */
  public @Nullable Integer concurrency() {
    return values.get(QueueFields.CONCURRENCY);
  }

  /** Returns how far resets may push a task beyond its first due time; null for no limit. */
  public @Nullable Duration maxWait() {
    return values.get(QueueFields.MAX_WAIT);
  }

  /** Returns how long extensions may keep one attempt running. A handler divides longer work and re-arms the task. */
  public Duration maxRun() {
    return values.require(QueueFields.MAX_RUN);
  }

  /** Returns the maximum number of recurring jobs of the queue, 0 for none. */
  public int maxJobs() {
    return values.require(QueueFields.MAX_JOBS);
  }

  /** Returns the number of unfinished shards of the queue's jobs at which no further run of them begins. */
  public int maxShards() {
    return values.require(QueueFields.MAX_SHARDS);
  }

  /** Returns how long tasks can be read after their end. */
  public Retention retention() {
    return values.require(QueueFields.RETENTION);
  }

  /** Returns whether the queue is paused, so that no new attempts begin. */
  public boolean paused() {
    return values.require(QueueFields.PAUSED);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof QueueConfig that && name.equals(that.name) && values.equals(that.values);
  }

  @Override
  public int hashCode() {
    return 31 * name.hashCode() + values.hashCode();
  }

  @Override
  public String toString() {
    return name + ": " + values;
  }

  /** Builds a {@link QueueConfig}. Not safe for use by several threads. */
  public static final class Builder {
    private final String name;
    private Values values;

    private Builder(String name, Values values) {
      this.name = name;
      this.values = values;
    }

    /** Sets any setting; null is its default. */
    public <T> Builder set(Field<T> field, @Nullable T value) {
      values = values.with(field, value);
      return this;
    }

    /** Sets where and how tasks are delivered. */
    public Builder target(Target target) {
      return set(QueueFields.DELIVERY, target);
    }

    /** Sets how failed attempts are repeated; {@link Retry#DEFAULT} by default. */
    public Builder retry(Retry retry) {
      return set(QueueFields.RETRY, retry);
    }

    /**
     * Sets the priority, from -10 to 10; 0 by default. On a busy node, a priority higher by one doubles the queue's
     * share of the attempts.
     */
    public Builder priority(int priority) {
      return set(QueueFields.PRIORITY, priority);
    }

    /**
     * Sets how many attempts may begin per second in the whole cluster, from 0.001 to 10^9; null, the default, for no
     * limit.
     */
    public Builder rate(@Nullable Double perSecond) {
      return set(QueueFields.RATE, perSecond);
    }

    /**
     * Sets how many attempts may run concurrently in the whole cluster, at least 1; null, the default, for no limit.
     */
    public Builder concurrency(@Nullable Integer attempts) {
      return set(QueueFields.CONCURRENCY, attempts);
    }

    /**
     * Sets how far resets may push a task beyond its first due time, up to 100 years; null, the default, for no limit.
     */
    public Builder maxWait(@Nullable Duration wait) {
      return set(QueueFields.MAX_WAIT, wait);
    }

    /** Sets how long extensions may keep one attempt running, up to 100 years; by default a day. */
    public Builder maxRun(Duration time) {
      return set(QueueFields.MAX_RUN, time);
    }

    /**
     * Sets the maximum number of recurring jobs of the queue, from 0 to 100,000,000; 10,000 by default, so that a
     * caller that reaches one queue cannot use up the jobs of a store. Jobs that exist already stay.
     */
    public Builder maxJobs(int jobs) {
      return set(QueueFields.MAX_JOBS, jobs);
    }

    /**
     * Sets the limit of the unfinished shards of the queue's jobs, from 1 to 100,000,000; 100,000 by default. While the
     * jobs have this many, no further run begins; a run that has begun gets all its shards.
     */
    public Builder maxShards(int shards) {
      return set(QueueFields.MAX_SHARDS, shards);
    }

    /** Sets how long tasks can be read after their end; {@link Retention#DEFAULT} by default. */
    public Builder retention(Retention retention) {
      return set(QueueFields.RETENTION, retention);
    }

    /** Sets how long finished and cancelled tasks can be read, up to 100 years; by default 1 hour. */
    public Builder retainFinished(Duration time) {
      return retention(new Retention(time, values.require(QueueFields.RETENTION).failed()));
    }

    /** Sets how long failed tasks can be read and redriven, up to 100 years; by default 14 days. */
    public Builder retainFailed(Duration time) {
      return retention(new Retention(values.require(QueueFields.RETENTION).finished(), time));
    }

    /** Sets whether the queue is paused, so that no new attempts begin; false by default. */
    public Builder paused(boolean paused) {
      return set(QueueFields.PAUSED, paused);
    }

    /**
     * Returns the queue.
     *
     * @throws IllegalArgumentException if the name or a setting is out of its range
     */
    public QueueConfig build() {
      return QueueConfig.of(name, values);
    }
  }
}
