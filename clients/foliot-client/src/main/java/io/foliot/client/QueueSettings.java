package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The settings of a queue. Null means the server's default, even if the queue exists and has another value.
 *
 * @param delivery the way in which the tasks are delivered
 * @param retry the rules of retries
 * @param priority the priority, from -10 to 10
 * @param rate how many attempts per second may begin in the whole cluster
 * @param concurrency how many attempts may run at a time in the whole cluster
 * @param maxWait how far resets may move a task beyond its first due time
 * @param maxRun how long one attempt may run, however often its lease is extended
 * @param maxJobs the maximum number of recurring jobs of the queue
 * @param maxShards while the jobs of the queue have this many unfinished shards, no further run of them begins
 * @param retention how long tasks are stored after they have ended
 * @param paused whether the queue is paused, so that no new attempts begin
 */
public record QueueSettings(
    Delivery delivery,
    @Nullable Retry retry,
    @Nullable Integer priority,
    @Nullable Double rate,
    @Nullable Integer concurrency,
    @Nullable Duration maxWait,
    @Nullable Duration maxRun,
    @Nullable Integer maxJobs,
    @Nullable Integer maxShards,
    @Nullable Retention retention,
    @Nullable Boolean paused) {
  /**
   * The rules by which a failed attempt is repeated. Null means the server's default.
   *
   * @param maxAttempts the largest number of attempts of a task
   * @param backoff the delay after the first attempt
   * @param multiplier the factor by which the delay grows with each further attempt
   * @param maxBackoff the longest delay before jitter
   * @param jitter the largest random change of a delay in either direction, as a fraction of the delay, from 0 to 1
   */
  public record Retry(
      @Nullable Integer maxAttempts,
      @Nullable Duration backoff,
      @Nullable Double multiplier,
      @Nullable Duration maxBackoff,
      @Nullable Double jitter) {
    static Retry of(JsonObject json) {
      return new Retry(json.integerOrNull("maxAttempts"), json.durationOrNull("backoff"),
          json.decimalOrNull("multiplier"),
          json.durationOrNull("maxBackoff"), json.decimalOrNull("jitter"));
    }

    void write(JsonGenerator json) {
      Json.write(json, "maxAttempts", maxAttempts);
      Json.write(json, "backoff", backoff);
      Json.write(json, "multiplier", multiplier);
      Json.write(json, "maxBackoff", maxBackoff);
      Json.write(json, "jitter", jitter);
    }
  }

  /**
   * The time for which tasks are stored after they have ended. Null means the server's default.
   *
   * @param finished the time for finished and cancelled tasks
   * @param failed the time for failed tasks
   */
  public record Retention(@Nullable Duration finished, @Nullable Duration failed) {
    static Retention of(JsonObject json) {
      return new Retention(json.durationOrNull("finished"), json.durationOrNull("failed"));
    }

    void write(JsonGenerator json) {
      Json.write(json, "finished", finished);
      Json.write(json, "failed", failed);
    }
  }

  /** Returns settings with a delivery, and the server's defaults for all others. Use {@link #builder} to set more. */
  public static QueueSettings of(Delivery delivery) {
    return builder(delivery).build();
  }

  /** Returns a builder of settings. Unset settings get the server's defaults. The server checks the ranges. */
  public static Builder builder(Delivery delivery) {
    return new Builder(delivery);
  }

  /** Returns a builder with these settings. */
  public Builder toBuilder() {
    return new Builder(delivery).retry(retry).priority(priority).rate(rate).concurrency(concurrency).maxWait(maxWait)
        .maxRun(maxRun).maxJobs(maxJobs).maxShards(maxShards).retention(retention).paused(paused);
  }

  /** Builds {@link QueueSettings}. Not safe for use by several threads. */
  public static final class Builder {
    private Delivery delivery;
    private @Nullable Retry retry;
    private @Nullable Integer priority;
    private @Nullable Double rate;
    private @Nullable Integer concurrency;
    private @Nullable Duration maxWait;
    private @Nullable Duration maxRun;
    private @Nullable Integer maxJobs;
    private @Nullable Integer maxShards;
    private @Nullable Retention retention;
    private @Nullable Boolean paused;

    private Builder(Delivery delivery) {
      this.delivery = delivery;
    }

    /** Sets where and how the tasks are delivered. */
    public Builder delivery(Delivery value) {
      delivery = value;
      return this;
    }

    /** Sets how failed attempts are repeated. If null or not set, the server's default applies. */
    public Builder retry(@Nullable Retry value) {
      retry = value;
      return this;
    }

    /**
     * Sets the priority, from -10 to 10. Each step up doubles the queue's share of a busy node. If null or not set, the
     * server's default applies.
     */
    public Builder priority(@Nullable Integer value) {
      priority = value;
      return this;
    }

    /**
     * Sets how many attempts per second may begin in the whole cluster, from 0.001 to 10^9. If null or not set, the
     * server's default applies.
     */
    public Builder rate(@Nullable Double value) {
      rate = value;
      return this;
    }

    /**
     * Sets how many attempts may run at a time in the whole cluster, at least 1. If null or not set, the server's
     * default applies.
     */
    public Builder concurrency(@Nullable Integer value) {
      concurrency = value;
      return this;
    }

    /**
     * Sets how far resets may move a task beyond its first due time, up to 100 years. If null or not set, the server's
     * default applies.
     */
    public Builder maxWait(@Nullable Duration value) {
      maxWait = value;
      return this;
    }

    /**
     * Sets how long one attempt may run, however often its lease is extended, up to 100 years. If null or not set, the
     * server's default applies.
     */
    public Builder maxRun(@Nullable Duration value) {
      maxRun = value;
      return this;
    }

    /**
     * Sets the maximum number of recurring jobs of the queue, from 0 to 100,000,000. If null or not set, the server's
     * default applies.
     */
    public Builder maxJobs(@Nullable Integer value) {
      maxJobs = value;
      return this;
    }

    /**
     * Sets the number of unfinished shards of the queue's jobs at which no further run begins, from 1 to 100,000,000.
     * If null or not set, the server's default applies.
     */
    public Builder maxShards(@Nullable Integer value) {
      maxShards = value;
      return this;
    }

    /** Sets how long tasks are stored after they have ended. If null or not set, the server's default applies. */
    public Builder retention(@Nullable Retention value) {
      retention = value;
      return this;
    }

    /**
     * Sets whether the queue is paused, so that no new attempts begin. If null or not set, the server's default
     * applies.
     */
    public Builder paused(@Nullable Boolean value) {
      paused = value;
      return this;
    }

    /** Returns the settings. */
    public QueueSettings build() {
      return new QueueSettings(delivery, retry, priority, rate, concurrency, maxWait, maxRun, maxJobs, maxShards,
          retention, paused);
    }
  }

  static QueueSettings of(JsonObject json) {
    JsonObject retry = json.objectOrNull("retry");
    JsonObject retention = json.objectOrNull("retention");
    return new QueueSettings(Delivery.of(json.object("delivery")), retry == null ? null : Retry.of(retry),
        json.integerOrNull("priority"), json.decimalOrNull("rate"), json.integerOrNull("concurrency"),
        json.durationOrNull("maxWait"), json.durationOrNull("maxRun"), json.integerOrNull("maxJobs"),
        json.integerOrNull("maxShards"), retention == null ? null : Retention.of(retention),
        json.truthOrNull("paused"));
  }

  void write(JsonGenerator json) {
    json.writeObjectPropertyStart("delivery");
    delivery.write(json);
    json.writeEndObject();
    if (retry != null) {
      json.writeObjectPropertyStart("retry");
      retry.write(json);
      json.writeEndObject();
    }
    Json.write(json, "priority", priority);
    Json.write(json, "rate", rate);
    Json.write(json, "concurrency", concurrency);
    Json.write(json, "maxWait", maxWait);
    Json.write(json, "maxRun", maxRun);
    Json.write(json, "maxJobs", maxJobs);
    Json.write(json, "maxShards", maxShards);
    if (retention != null) {
      json.writeObjectPropertyStart("retention");
      retention.write(json);
      json.writeEndObject();
    }
    if (paused != null) {
      json.writeBooleanProperty("paused", paused);
    }
  }
}
