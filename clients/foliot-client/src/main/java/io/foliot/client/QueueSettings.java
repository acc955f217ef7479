package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The settings that a queue's tasks share. What is null is left to the server's default, also when a queue is replaced.
 *
 * @param rate attempts per second that may begin, in the whole cluster
 * @param concurrency attempts that may run at a time, in the whole cluster
 * @param maxWait how far resets may push a task beyond its first due time
 * @param maxRun how long one attempt may run, however often its lease is extended
 */
public record QueueSettings(
    Delivery delivery,
    @Nullable Retry retry,
    @Nullable Integer priority,
    @Nullable Double rate,
    @Nullable Integer concurrency,
    @Nullable Duration maxWait,
    @Nullable Duration maxRun,
    @Nullable Retention retention,
    @Nullable Boolean paused) {
  /** When a failed attempt is repeated. */
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

  /** How long tasks are kept after they ended. */
  public record Retention(@Nullable Duration finished, @Nullable Duration failed) {
    static Retention of(JsonObject json) {
      return new Retention(json.durationOrNull("finished"), json.durationOrNull("failed"));
    }

    void write(JsonGenerator json) {
      Json.write(json, "finished", finished);
      Json.write(json, "failed", failed);
    }
  }

  /** A queue with the server's defaults. */
  public static QueueSettings of(Delivery delivery) {
    return new QueueSettings(delivery, null, null, null, null, null, null, null, null);
  }

  public QueueSettings withRetry(Retry newRetry) {
    return new QueueSettings(delivery, newRetry, priority, rate, concurrency, maxWait, maxRun, retention, paused);
  }

  public QueueSettings withPriority(int newPriority) {
    return new QueueSettings(delivery, retry, newPriority, rate, concurrency, maxWait, maxRun, retention, paused);
  }

  public QueueSettings withRate(double newRate) {
    return new QueueSettings(delivery, retry, priority, newRate, concurrency, maxWait, maxRun, retention, paused);
  }

  public QueueSettings withConcurrency(int newConcurrency) {
    return new QueueSettings(delivery, retry, priority, rate, newConcurrency, maxWait, maxRun, retention, paused);
  }

  public QueueSettings withMaxWait(Duration newMaxWait) {
    return new QueueSettings(delivery, retry, priority, rate, concurrency, newMaxWait, maxRun, retention, paused);
  }

  public QueueSettings withMaxRun(Duration newMaxRun) {
    return new QueueSettings(delivery, retry, priority, rate, concurrency, maxWait, newMaxRun, retention, paused);
  }

  public QueueSettings withRetention(Retention newRetention) {
    return new QueueSettings(delivery, retry, priority, rate, concurrency, maxWait, maxRun, newRetention, paused);
  }

  public QueueSettings withPaused(boolean newPaused) {
    return new QueueSettings(delivery, retry, priority, rate, concurrency, maxWait, maxRun, retention, newPaused);
  }

  static QueueSettings of(JsonObject json) {
    JsonObject retry = json.objectOrNull("retry");
    JsonObject retention = json.objectOrNull("retention");
    return new QueueSettings(Delivery.of(json.object("delivery")), retry == null ? null : Retry.of(retry),
        json.integerOrNull("priority"), json.decimalOrNull("rate"), json.integerOrNull("concurrency"),
        json.durationOrNull("maxWait"), json.durationOrNull("maxRun"),
        retention == null ? null : Retention.of(retention), json.truthOrNull("paused"));
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
