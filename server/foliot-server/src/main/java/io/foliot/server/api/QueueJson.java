package io.foliot.server.api;

import io.foliot.api.DurationText;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.QueueConfig;
import io.foliot.api.QueueFields;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.api.Values;
import io.foliot.core.Scheduler;
import io.foliot.core.store.QueueCounts;
import io.foliot.delivery.http.HttpDelivery;
import io.foliot.server.security.Action;
import io.foliot.server.security.Caller;
import java.nio.charset.StandardCharsets;
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

  private static final String HTTP = "http";
  private static final List<String> HTTP_SETTINGS = Stream.concat(Stream.of("type", "timeout"),
      HttpDelivery.SETTINGS.stream()).toList();

  private QueueJson() {}

  /** Reads the settings of a queue. A masked secret remains {@link #MASK}. */
  static QueueConfig read(String name, byte[] body) {
    return read(name, body, FieldsJson.reader(QueueFields.TABLE));
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
    return queue.with(QueueFields.DELIVERY, new Target(target.type(), settings, target.timeout()));
  }

  /**
   * Returns a queue as a JSON merge patch (RFC 7396) changes it: an absent field keeps its value, and null resets a
   * field to its default.
   */
  static QueueConfig patched(QueueConfig existing, byte[] patch) {
    return unmasked(read(existing.name(), patch, FieldsJson.patch(existing.values())), existing);
  }

  private static QueueConfig read(String name, byte[] body, FieldsJson fields) {
    try (JsonIn in = new JsonIn(body)) {
      in.only(QueueFields.TABLE.names(), field -> fields.read(in, "", field) || isOther(in, field, name));
      return checked(name, fields.values());
    } catch (InvalidSettingException e) {
      throw FieldsJson.refused(e);
    } catch (IllegalArgumentException e) {
      throw new Problem(ProblemKind.INVALID_FIELD, String.valueOf(e.getMessage()));
    }
  }

  /** Reads a field that answers show. A caller can read a queue, change it, and send it back. */
  private static boolean isOther(JsonIn in, String field, String name) {
    if (field.equals("queue")) {
      String written = in.text(field);
      if (written != null && !written.equals(name)) {
        throw JsonIn.invalidText("queue", "the name in the path, " + name, written);
      }
      return true;
    }
    if (field.equals("stats")) {
      in.skip();
      return true;
    }
    return false;
  }

  private static QueueConfig checked(String name, Values values) {
    if (!values.isSet(QueueFields.DELIVERY)) {
      throw FieldsJson.withoutDelivery("delivery");
    }
    QueueConfig queue = QueueConfig.of(name, values);
    Target target = queue.target();
    if (target.type().equals(Target.PULL) && !target.settings().isEmpty()) {
      throw JsonIn.invalid("delivery", "only type and timeout, because a delivery of type pull has no other settings",
          JsonIn.shown(String.join(", ", target.settings().keySet())));
    }
    Retry retry = queue.retry();
    if (retry.backoff().compareTo(retry.maxBackoff()) > 0) {
      throw JsonIn.invalidText("retry.backoff", "at most retry.maxBackoff, " + DurationText.format(retry.maxBackoff()),
          DurationText.format(retry.backoff()));
    }
    if (target.type().equals(HTTP)) {
      for (String setting : target.settings().keySet()) {
        if (!HTTP_SETTINGS.contains(setting)) {
          throw JsonIn.unknown("delivery." + JsonIn.shown(setting), setting, HTTP_SETTINGS);
        }
      }
    }
    return queue;
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
    return queue.with(QueueFields.DELIVERY, new Target(target.type(), settings, target.timeout()));
  }

  /** Writes a queue, with its figures unless {@code status} is null. */
  static void write(JsonGenerator json, QueueConfig queue, Scheduler.@Nullable QueueStatus status) {
    json.writeStartObject();
    json.writeStringProperty("queue", queue.name());
    FieldsJson.write(json, queue.values(), false);
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
    json.writeName("settledPerSecond");
    FieldsJson.number(json, Math.round(status.settledPerSecond() * 10) / 10.0);
    // The lag is rounded: people read it, and an exact lag would be outdated when it arrives.
    json.writeStringProperty("lag", DurationText.rough(status.lag()).replace(" ", ""));
    json.writeEndObject();
  }
}
