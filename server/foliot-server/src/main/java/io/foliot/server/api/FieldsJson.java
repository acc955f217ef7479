package io.foliot.server.api;

import io.foliot.api.Body;
import io.foliot.api.DurationText;
import io.foliot.api.Field;
import io.foliot.api.FieldType;
import io.foliot.api.Fields;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Target;
import io.foliot.api.Values;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * Reads and writes the JSON of objects by the tables of their fields. An instance reads one object, as a whole or as a
 * JSON merge patch (RFC 7396) of an existing one: a field that is absent keeps its value, and a field that is null gets
 * its default. Used by one thread.
 */
final class FieldsJson {
  private static final String JSON = "application/json";
  private static final String TYPE = "type";

  private final Values before;
  private final boolean isPatch;
  private final List<Field<?>> named = new ArrayList<>();
  private Values values;

  private FieldsJson(Values before, boolean isPatch) {
    this.before = before;
    this.isPatch = isPatch;
    values = before;
  }

  /** Returns a reader of a whole object. */
  static FieldsJson reader(Fields fields) {
    return new FieldsJson(Values.of(fields), false);
  }

  /** Returns a reader of changes. */
  static FieldsJson patch(Values before) {
    return new FieldsJson(before, true);
  }

  /** Returns the values that were read. */
  Values values() {
    return values.merged(before, named);
  }

  /**
   * Reads the value at the reader's position.
   *
   * @param prefix the names of the objects around the field, each with a dot; may be empty
   * @return whether the table has a field with this name
   */
  boolean read(JsonIn in, String prefix, String name) {
    Field<?> field = values.fields().named(name);
    if (field == null) {
      return false;
    }
    set(in, prefix + name, field);
    named.add(field);
    return true;
  }

  private <T> void set(JsonIn in, String path, Field<T> field) {
    values = values.with(field, value(in, path, field));
  }

  @SuppressWarnings("unchecked") // each case returns a value of its type
  private <T> @Nullable T value(JsonIn in, String path, Field<T> field) {
    return in.isNull() ? null : (T) switch (field.type()) {
      case FieldType.Text text -> checked(path, text, in.text(path));
      case FieldType.Whole whole -> in.integer(path, whole.min(), whole.max());
      case FieldType.Decimal decimal -> in.number(path, decimal.min(), decimal.max());
      case FieldType.Truth truth -> in.truth(path);
      case FieldType.Span span -> checked(path, span, span.isSigned() ? in.signedDuration(path) : in.duration(path));
      case FieldType.Time time -> in.instant(path);
      case FieldType.Choice<?> choice -> in.choice(path, choice.constants());
      case FieldType.Choices<?> choices ->
        choices.of(path, Objects.requireNonNull(in.texts(path, choices.item().constants().size())));
      case FieldType.Texts texts -> in.texts(path, texts.max());
      case FieldType.Json json -> new Body(in.raw(), JSON, Map.of());
      case FieldType.Nested<?> nested -> object(in, path, nested, field);
      case FieldType.Delivery delivery -> target(in, path, (Target) values.get(field));
    };
  }

  private static <T> @Nullable T checked(String path, FieldType<T> type, @Nullable T value) {
    return value == null ? null : type.checked(path, value);
  }

  @SuppressWarnings("unchecked") // the nested type is that of the field
  private <T> T object(JsonIn in, String path, FieldType.Nested<T> nested, Field<?> field) {
    T existing = isPatch ? values.get((Field<T>) field) : null;
    FieldsJson inner = existing == null
        ? reader(nested.fields())
        : patch(nested.take().apply(existing));
    in.object(path, nested.fields().names(), name -> inner.read(in, path + ".", name));
    return nested.make().apply(inner.values());
  }

  /** Reads a target. The delivery checks the settings later, when the queue is put. */
  private Target target(JsonIn in, String path, @Nullable Target existing) {
    Map<String, String> settings = new TreeMap<>();
    Duration[] timeout = {Target.DEFAULT_TIMEOUT};
    if (isPatch && existing != null) {
      settings.putAll(existing.settings());
      settings.put(TYPE, existing.type());
      timeout[0] = existing.timeout();
    }
    in.object(path, List.of(), name -> {
      if (name.equals("timeout")) {
        timeout[0] = Objects.requireNonNullElse(in.duration(path + ".timeout"), Target.DEFAULT_TIMEOUT);
      } else {
        String value = in.scalar(path + "." + name);
        if (value == null) {
          settings.remove(name);
        } else {
          settings.put(name, value);
        }
      }
      return true;
    });
    String type = settings.remove(TYPE);
    if (type == null) {
      throw withoutDelivery(path + "." + TYPE);
    }
    return new Target(type, settings, timeout[0]);
  }

  /** Returns the problem of a queue without a delivery, or without the type of its delivery. */
  static Problem withoutDelivery(String field) {
    return new Problem(ProblemKind.MISSING_FIELD, "a queue needs a delivery: \"delivery\": {\"type\": \"http\","
        + " \"url\": \"https://...\"}, or {\"type\": \"pull\"} for workers that claim its tasks").with("field", field);
  }

  /** Returns the problem of a refused setting. */
  static Problem refused(InvalidSettingException e) {
    return new Problem(ProblemKind.INVALID_FIELD, String.valueOf(e.getMessage())).with("field", e.setting())
        .with("expected", e.expected()).with("found", e.found());
  }

  /**
   * Writes the fields into the open object, except those that have a default which says that there is nothing.
   *
   * @param isMasked whether a mask replaces values that may be secrets
   */
  static void write(JsonGenerator json, Values values, boolean isMasked) {
    values.fields().all().forEach(field -> write(json, values, field, isMasked));
  }

  private static <T> void write(JsonGenerator json, Values values, Field<T> field, boolean isMasked) {
    T value = values.get(field);
    if (value != null && (values.isSet(field) || field.isShown())) {
      json.writeName(field.name());
      write(json, field.type(), value, isMasked && field.isSecret(), isMasked);
    }
  }

  private static <T> void write(JsonGenerator json, FieldType<T> type, T value, boolean isSecret, boolean isMasked) {
    switch (type) {
      case FieldType.Text text -> json.writeString(isSecret ? Secrets.MASK : (String) value);
      case FieldType.Whole whole -> json.writeNumber((Integer) value);
      case FieldType.Decimal decimal -> number(json, (Double) value);
      case FieldType.Truth truth -> json.writeBoolean((Boolean) value);
      case FieldType.Span span -> json.writeString(type.text(value));
      case FieldType.Time time -> json.writeString(type.text(value));
      case FieldType.Choice<?> choice -> json.writeString(type.text(value));
      case FieldType.Choices<?> choices ->
        texts(json, ((Set<?>) value).stream().map(each -> FieldType.word((Enum<?>) each)).toList());
      case FieldType.Texts texts -> texts(json,
          ((List<?>) value).stream().map(each -> isSecret ? Secrets.MASK : (String) each).toList());
      case FieldType.Json raw -> body(json, (Body) value, isSecret);
      case FieldType.Delivery delivery -> target(json, (Target) value);
      case FieldType.Nested<T> nested -> {
        json.writeStartObject();
        write(json, nested.take().apply(value), isMasked);
        json.writeEndObject();
      }
    }
  }

  private static void target(JsonGenerator json, Target target) {
    json.writeStartObject();
    json.writeStringProperty(TYPE, target.type());
    target.settings()
        .forEach((name, value) -> TaskJson.text(json, name, Secrets.isSecret(name) ? Secrets.MASK : value));
    json.writeStringProperty("timeout", DurationText.format(target.timeout()));
    json.writeEndObject();
  }

  /** Writes a number; a whole one has no fraction. */
  static void number(JsonGenerator json, double value) {
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      json.writeNumber((long) value);
    } else {
      json.writeNumber(value);
    }
  }

  private static void texts(JsonGenerator json, List<String> texts) {
    json.writeStartArray();
    texts.forEach(json::writeString);
    json.writeEndArray();
  }

  private static void body(JsonGenerator json, Body body, boolean isSecret) {
    if (isSecret) {
      json.writeString(Secrets.MASK);
    } else if (body.contentType().equals(JSON) && Json.isOneValue(body.payload())) {
      json.writeRawValue(new String(body.payload(), StandardCharsets.UTF_8));
    } else {
      json.writeBinary(body.payload());
    }
  }
}
