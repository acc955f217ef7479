package io.foliot.server.api;

import io.foliot.core.DurationText;
import io.foliot.core.QueueConfig;
import io.foliot.core.Retry;
import io.foliot.core.Scheduler;
import io.foliot.core.Target;
import io.foliot.core.store.QueueCounts;
import io.foliot.delivery.http.HttpDelivery;
import io.foliot.server.security.Action;
import io.foliot.server.security.Caller;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The JSON of queues, as callers write it and as answers show it. A field that is null has its default. A field that is
 * absent has its default when a queue is put, and keeps its value when a queue is patched.
 */
final class QueueJson {
  /** The mask of a secret in answers. If a request contains the mask, the queue keeps its secret. */
  static final String MASK = Secrets.MASK;

  private static final List<String> FIELDS = List.of("delivery", "retry", "priority", "rate", "concurrency", "maxWait",
      "maxRun", "maxJobs", "maxShards", "retention", "paused");
  private static final List<String> RETRY_FIELDS = List.of("maxAttempts", "backoff", "multiplier", "maxBackoff",
      "jitter");
  private static final List<String> RETENTION_FIELDS = List.of("finished", "failed");
  private static final String HTTP = "http";
  private static final List<String> HTTP_SETTINGS = Stream.concat(Stream.of("type", "timeout"),
      HttpDelivery.SETTINGS.stream()).toList();
  private static final QueueConfig DEFAULTS = QueueConfig.of("defaults",
      new Target(Target.PULL, Map.of(), Target.DEFAULT_TIMEOUT));

  // Used by one thread. Each reader reads one body.
  private final String name;
  private @Nullable Map<String, String> delivery;
  private @Nullable Duration timeout;
  private int maxAttempts;
  private Duration backoff;
  private double multiplier;
  private Duration maxBackoff;
  private double jitter;
  private int priority;
  private @Nullable Double rate;
  private @Nullable Integer concurrency;
  private @Nullable Duration maxWait;
  private Duration maxRun;
  private int maxJobs;
  private int maxShards;
  private Duration retainFinished;
  private Duration retainFailed;
  private boolean paused;

  /** Creates a reader whose fields initially have the settings of a queue, without its delivery. */
  private QueueJson(String name, QueueConfig from) {
    this.name = name;
    maxAttempts = from.retry().maxAttempts();
    backoff = from.retry().backoff();
    multiplier = from.retry().multiplier();
    maxBackoff = from.retry().maxBackoff();
    jitter = from.retry().jitter();
    priority = from.priority();
    rate = from.rate();
    concurrency = from.concurrency();
    maxWait = from.maxWait();
    maxRun = from.maxRun();
    maxJobs = from.maxJobs();
    maxShards = from.maxShards();
    retainFinished = from.retainFinished();
    retainFailed = from.retainFailed();
    paused = from.paused();
  }

  /** Reads the settings of a queue. A masked secret remains {@link #MASK}. */
  static QueueConfig read(String name, byte[] body) {
    return new QueueJson(name, DEFAULTS).read(body);
  }

  /** Returns whether a secret of a queue is masked. */
  static boolean isMasked(QueueConfig queue) {
    return queue.target().settings().entrySet().stream().anyMatch(each -> isMasked(each.getKey(), each.getValue()));
  }

  private static boolean isMasked(String setting, String value) {
    return isSecret(setting) && value.equals(MASK);
  }

  /**
   * Returns the queue with each masked secret replaced by the secret of the existing queue.
   *
   * @param existing the queue in the store, or null if there is none
   * @throws Problem if the existing queue lacks a masked secret
   */
  static QueueConfig unmasked(QueueConfig queue, @Nullable QueueConfig existing) {
    if (!isMasked(queue)) {
      return queue;
    }
    Target target = queue.target();
    Map<String, String> settings = new TreeMap<>(target.settings());
    settings.replaceAll((setting, value) -> isMasked(setting, value) ? kept(setting, existing) : value);
    return queue.toBuilder().target(new Target(target.type(), settings, target.timeout())).build();
  }

  /**
   * Returns a queue as a JSON merge patch (RFC 7396) changes it: an absent field keeps its value, and null resets a
   * field to its default.
   */
  static QueueConfig patched(QueueConfig existing, byte[] patch) {
    QueueJson fields = new QueueJson(existing.name(), existing);
    Map<String, String> settings = new TreeMap<>(existing.target().settings());
    settings.put("type", existing.target().type());
    fields.delivery = settings;
    fields.timeout = existing.target().timeout();
    return unmasked(fields.read(patch), existing);
  }

  private QueueConfig read(byte[] body) {
    try (JsonIn in = new JsonIn(body)) {
      in.only(FIELDS, field -> readField(in, field));
    }
    try {
      return queue();
    } catch (IllegalArgumentException e) {
      throw new Problem(ProblemKind.INVALID_FIELD, String.valueOf(e.getMessage()));
    }
  }

  private boolean readField(JsonIn in, String name) {
    switch (name) {
      case "delivery" -> readDelivery(in);
      case "retry" -> in.objectOrEach(name, RETRY_FIELDS, field -> readRetry(in, field));
      case "priority" -> priority = or(in.integer(name, -10, 10), DEFAULTS.priority());
      case "rate" -> rate = in.number(name, 0.001, 1e9);
      case "concurrency" -> concurrency = in.integer(name, 1, Integer.MAX_VALUE);
      case "maxWait" -> maxWait = in.duration(name);
      case "maxRun" -> maxRun = or(in.duration(name), DEFAULTS.maxRun());
      case "maxJobs" ->
        maxJobs = or(in.integer(name, 0, QueueConfig.LARGEST_MAX_JOBS), DEFAULTS.maxJobs());
      case "maxShards" ->
        maxShards = or(in.integer(name, 1, QueueConfig.LARGEST_MAX_SHARDS), DEFAULTS.maxShards());
      case "retention" -> in.objectOrEach(name, RETENTION_FIELDS, field -> readRetention(in, field));
      case "paused" -> paused = or(in.truth(name), DEFAULTS.paused());
      // Answers show these two fields. They are accepted, so that a caller can read a queue, change it, and send it
      // back.
      case "queue" -> checkName(in.text(name));
      case "stats" -> in.skip();
      default -> {
        return false;
      }
    }
    return true;
  }

  private void checkName(@Nullable String written) {
    if (written != null && !written.equals(name)) {
      throw JsonIn.invalidText("queue", "the name in the path, " + name, written);
    }
  }

  private boolean readRetry(JsonIn in, String name) {
    String path = "retry." + name;
    switch (name) {
      case "maxAttempts" -> maxAttempts = or(in.integer(path, 1, Retry.MAX_ATTEMPTS), Retry.DEFAULT.maxAttempts());
      case "backoff" -> backoff = or(in.duration(path), Retry.DEFAULT.backoff());
      case "multiplier" -> multiplier = or(in.number(path, 1, 100), Retry.DEFAULT.multiplier());
      case "maxBackoff" -> maxBackoff = or(in.duration(path), Retry.DEFAULT.maxBackoff());
      case "jitter" -> jitter = or(in.number(path, 0, 1), Retry.DEFAULT.jitter());
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean readRetention(JsonIn in, String name) {
    String path = "retention." + name;
    switch (name) {
      case "finished" -> retainFinished = or(in.duration(path), DEFAULTS.retainFinished());
      case "failed" -> retainFailed = or(in.duration(path), DEFAULTS.retainFailed());
      default -> {
        return false;
      }
    }
    return true;
  }

  // The delivery checks its settings later, when the queue is put.
  private void readDelivery(JsonIn in) {
    if (in.isNull()) {
      delivery = null;
      timeout = null;
      return;
    }
    Map<String, String> settings = delivery == null ? new TreeMap<>() : delivery;
    in.object("delivery", List.of(), name -> {
      String path = "delivery." + name;
      if (name.equals("timeout")) {
        timeout = in.duration(path);
      } else {
        String value = in.scalar(path);
        if (value == null) {
          settings.remove(name);
        } else {
          settings.put(name, value);
        }
      }
      return true;
    });
    delivery = settings;
  }

  private static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  private QueueConfig queue() {
    if (delivery == null || !delivery.containsKey("type")) {
      throw new Problem(ProblemKind.MISSING_FIELD, "a queue needs a delivery: \"delivery\": {\"type\": \"http\","
          + " \"url\": \"https://...\"}, or {\"type\": \"pull\"} for workers that claim its tasks").with("field",
              delivery == null ? "delivery" : "delivery.type");
    }
    Map<String, String> settings = new TreeMap<>(delivery);
    String type = String.valueOf(settings.remove("type"));
    if (type.equals(Target.PULL) && !settings.isEmpty()) {
      throw JsonIn.invalid("delivery", "only type and timeout, because a delivery of type pull has no other settings",
          JsonIn.shown(String.join(", ", settings.keySet())));
    }
    Target target = new Target(type, settings, or(timeout, Target.DEFAULT_TIMEOUT));
    if (backoff.compareTo(maxBackoff) > 0) {
      throw JsonIn.invalidText("retry.backoff", "at most retry.maxBackoff, " + DurationText.format(maxBackoff),
          DurationText.format(backoff));
    }
    ensureKnownSettings(type, settings);
    Retry retry = new Retry(maxAttempts, backoff, multiplier, maxBackoff, jitter);
    return new QueueConfig(name, target, retry, priority, rate, concurrency, maxWait, maxRun, maxJobs, maxShards,
        retainFinished, retainFailed, paused);
  }

  private static void ensureKnownSettings(String type, Map<String, String> settings) {
    if (type.equals(HTTP)) {
      for (String name : settings.keySet()) {
        if (!HTTP_SETTINGS.contains(name)) {
          throw JsonIn.unknown("delivery." + JsonIn.shown(name), name, HTTP_SETTINGS);
        }
      }
    }
  }

  private static String kept(String setting, @Nullable QueueConfig existing) {
    String value = existing == null ? null : existing.target().settings().get(setting);
    if (value == null) {
      throw new Problem(ProblemKind.INVALID_FIELD, "delivery." + setting + ": expected a secret, but got the mask that"
          + " answers show, and the queue has no such secret to keep; send the secret itself").with("field",
              "delivery." + setting);
    }
    return value;
  }

  private static boolean isSecret(String setting) {
    return Secrets.isSecret(setting);
  }

  /** Adds the settings of a queue to the audit log, without its secrets and the tokens in its URL. */
  static void audit(Request request, String name, @Nullable QueueConfig queue) {
    request.audit(name, queue == null
        ? "none"
        : new String(Reply.json(200, json -> write(json, shownToReaders(queue), null)).body(), StandardCharsets.UTF_8));
  }

  /** Returns a queue as a caller sees it. Only a caller that may change queues sees all of a URL. */
  static QueueConfig shown(QueueConfig queue, Caller caller) {
    return caller.may(Action.ADMIN) ? queue : shownToReaders(queue);
  }

  private static QueueConfig shownToReaders(QueueConfig queue) {
    Target target = queue.target();
    Map<String, String> settings = new TreeMap<>(target.settings());
    settings.replaceAll((setting, value) -> setting.equals("url") ? Secrets.withoutTokens(value) : value);
    return queue.toBuilder().target(new Target(target.type(), settings, target.timeout())).build();
  }

  /** Writes a queue, with its figures unless {@code status} is null. */
  static void write(JsonGenerator json, QueueConfig queue, Scheduler.@Nullable QueueStatus status) {
    json.writeStartObject();
    json.writeStringProperty("queue", queue.name());
    json.writeObjectPropertyStart("delivery");
    json.writeStringProperty("type", queue.target().type());
    queue.target().settings().forEach((name, value) -> TaskJson.text(json, name, isSecret(name) ? MASK : value));
    duration(json, "timeout", queue.target().timeout());
    json.writeEndObject();
    json.writeObjectPropertyStart("retry");
    json.writeNumberProperty("maxAttempts", queue.retry().maxAttempts());
    duration(json, "backoff", queue.retry().backoff());
    number(json, "multiplier", queue.retry().multiplier());
    duration(json, "maxBackoff", queue.retry().maxBackoff());
    number(json, "jitter", queue.retry().jitter());
    json.writeEndObject();
    json.writeNumberProperty("priority", queue.priority());
    if (queue.rate() != null) {
      number(json, "rate", queue.rate());
    }
    if (queue.concurrency() != null) {
      json.writeNumberProperty("concurrency", queue.concurrency());
    }
    if (queue.maxWait() != null) {
      duration(json, "maxWait", queue.maxWait());
    }
    duration(json, "maxRun", queue.maxRun());
    json.writeNumberProperty("maxJobs", queue.maxJobs());
    json.writeNumberProperty("maxShards", queue.maxShards());
    json.writeObjectPropertyStart("retention");
    duration(json, "finished", queue.retainFinished());
    duration(json, "failed", queue.retainFailed());
    json.writeEndObject();
    json.writeBooleanProperty("paused", queue.paused());
    if (status != null) {
      stats(json, status);
    }
    json.writeEndObject();
  }

  private static void stats(JsonGenerator json, Scheduler.QueueStatus status) {
    QueueCounts counts = status.counts();
    json.writeObjectPropertyStart("stats");
    json.writeObjectPropertyStart("counts");
    json.writeNumberProperty("delayed", counts.delayed());
    json.writeNumberProperty("parked", counts.parked());
    json.writeNumberProperty("running", counts.running());
    json.writeNumberProperty("finished", counts.finished());
    json.writeNumberProperty("failed", counts.failed());
    json.writeNumberProperty("cancelled", counts.cancelled());
    json.writeEndObject();
    number(json, "settledPerSecond", Math.round(status.settledPerSecond() * 10) / 10.0);
    // The lag is rounded: people read it, and an exact lag would be outdated when it arrives.
    json.writeStringProperty("lag", DurationText.rough(status.lag()).replace(" ", ""));
    json.writeEndObject();
  }

  private static void duration(JsonGenerator json, String name, Duration value) {
    json.writeStringProperty(name, DurationText.format(value));
  }

  private static void number(JsonGenerator json, String name, double value) {
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      json.writeNumberProperty(name, (long) value);
    } else {
      json.writeNumberProperty(name, value);
    }
  }
}
