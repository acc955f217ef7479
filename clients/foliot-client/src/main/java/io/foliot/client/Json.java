package io.foliot.client;

import io.foliot.api.Body;
import io.foliot.api.Field;
import io.foliot.api.FieldType;
import io.foliot.api.Target;
import io.foliot.api.Values;
import java.io.ByteArrayOutputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Writes JSON. A field whose value is null is left out, and so is an empty map. */
final class Json {
  static final JsonFactory FACTORY = JsonFactory.builder().build();

  private Json() {}

  /** Returns the UTF-8 bytes of a JSON object with the fields that the given code writes. */
  static byte[] object(Consumer<JsonGenerator> fields) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
      json.writeStartObject();
      fields.accept(json);
      json.writeEndObject();
    }
    return out.toByteArray();
  }

  /** Returns a text as a JSON string. */
  static String text(String value) {
    StringWriter out = new StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
      json.writeString(value);
    }
    return out.toString();
  }

  static void write(JsonGenerator json, String name, @Nullable String value) {
    if (value != null) {
      json.writeStringProperty(name, value);
    }
  }

  static void write(JsonGenerator json, String name, @Nullable Integer value) {
    if (value != null) {
      json.writeNumberProperty(name, value);
    }
  }

  static void write(JsonGenerator json, String name, @Nullable Double value) {
    if (value != null) {
      json.writeNumberProperty(name, value);
    }
  }

  static void write(JsonGenerator json, String name, @Nullable Duration value) {
    if (value != null) {
      json.writeStringProperty(name, value.toString());
    }
  }

  static void write(JsonGenerator json, String name, @Nullable Instant value) {
    if (value != null) {
      json.writeStringProperty(name, value.toString());
    }
  }

  static void write(JsonGenerator json, String name, Map<String, String> values) {
    if (!values.isEmpty()) {
      json.writeObjectPropertyStart(name);
      values.forEach(json::writeStringProperty);
      json.writeEndObject();
    }
  }

  static void writeTexts(JsonGenerator json, String name, Iterable<String> values) {
    json.writeArrayPropertyStart(name);
    values.forEach(json::writeString);
    json.writeEndArray();
  }

  /**
   * Writes the values that are not the defaults of their fields.
   *
   * @throws IllegalArgumentException if a body is not exactly one JSON value
   */
  static void writeFields(JsonGenerator json, Values values) {
    for (Field<?> field : values.fields().all()) {
      if (values.isSet(field)) {
        writeField(json, values, field, false);
      }
    }
  }

  private static <T> void writeField(JsonGenerator json, Values values, Field<T> field, boolean isPatch) {
    writeField(json, field, values.get(field), isPatch);
  }

  /**
   * Writes a field; null is written as such.
   *
   * @param isPatch whether all fields of an object are written, because one that is absent in a patch keeps its value
   */
  static <T> void writeField(JsonGenerator json, Field<T> field, @Nullable T value, boolean isPatch) {
    String name = field.name();
    if (value == null) {
      json.writeNullProperty(name);
      return;
    }
    switch (field.type()) {
      case FieldType.Whole whole -> json.writeNumberProperty(name, (Integer) value);
      case FieldType.Decimal decimal -> json.writeNumberProperty(name, (Double) value);
      case FieldType.Truth truth -> json.writeBooleanProperty(name, (Boolean) value);
      case FieldType.Text text -> write(json, name, Names.requireWellFormed(name, (String) value));
      case FieldType.Span span -> write(json, name, (Duration) value);
      case FieldType.Time time -> write(json, name, (Instant) value);
      case FieldType.Choice<?> choice -> write(json, name, field.type().text(value));
      case FieldType.Choices<?> choices ->
        writeTexts(json, name, ((Set<?>) value).stream().map(each -> FieldType.word((Enum<?>) each)).toList());
      case FieldType.Texts texts ->
        writeTexts(json, name, ((List<?>) value).stream().map(String.class::cast).toList());
      case FieldType.Json body -> writeJson(json, name, jsonOf(name, (Body) value));
      case FieldType.Delivery delivery -> {
        Target target = (Target) value;
        json.writeObjectPropertyStart(name);
        json.writeStringProperty("type", target.type());
        target.settings().forEach(json::writeStringProperty);
        write(json, "timeout", target.timeout().equals(Target.DEFAULT_TIMEOUT) ? null : target.timeout());
        json.writeEndObject();
      }
      case FieldType.Nested<T> nested -> {
        json.writeObjectPropertyStart(name);
        Values values = nested.take().apply(value);
        if (isPatch) {
          values.fields().all().forEach(each -> writeField(json, values, each, true));
        } else {
          writeFields(json, values);
        }
        json.writeEndObject();
      }
    }
  }

  private static String jsonOf(String name, Body body) {
    if (!body.contentType().equals("application/json") || !body.headers().isEmpty()) {
      throw new IllegalArgumentException(name + " must be JSON without headers: contentType=" + body.contentType()
          + ", headers=" + body.headers().keySet());
    }
    return requireOneValue(name, new String(body.payload(), StandardCharsets.UTF_8));
  }

  /** Writes a field. Its value is JSON text that {@link #requireOneValue} has accepted. */
  static void writeJson(JsonGenerator json, String name, String value) {
    json.writeName(name);
    // A line break between tokens is white space in JSON, but would end the task's line in a batch.
    json.writeRawValue(value.replace('\n', ' ').replace('\r', ' '));
  }

  /**
   * Returns the given text if it is exactly one JSON value. {@link #writeJson} writes the text without quotes, so
   * text after the value could add fields.
   *
   * @throws IllegalArgumentException if the text is not exactly one JSON value
   */
  static String requireOneValue(String what, String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      JsonToken first = parser.nextToken();
      parser.skipChildren();
      parser.finishToken();
      if (first != null && parser.nextToken() == null) {
        return Names.requireWellFormed(what, text);
      }
    } catch (JacksonException e) {
      throw new IllegalArgumentException(what + " must be one JSON value: " + e.getOriginalMessage(), e);
    }
    throw new IllegalArgumentException(what + " must be exactly one JSON value");
  }
}
