package io.foliot.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The OpenAPI description of the API. It checks the types, required members, enumerations, patterns and formats of
 * answers. If a schema describes members, this check refuses all other members, although JSON Schema would permit them.
 */
@SuppressWarnings("unchecked")
final class Description {
  private final Object document;
  private final Map<String, Pattern> paths = new TreeMap<>();

  Description(@Nullable Object document) {
    this.document = requireNonNull(document);
    paths().keySet().forEach(path -> paths.put(path, Pattern.compile(
        path.replaceAll("\\{[^}]*}", "[^/]+").replace(".", "\\."))));
  }

  Map<String, Object> paths() {
    return (Map<String, Object>) requireNonNull(JsonTree.at(document, "paths"));
  }

  /** Asserts that an answer conforms to the description. */
  void check(String method, String path, int status, String contentType, String body) {
    Object operation = operation(method, path);
    Object response = operation == null ? null : response(operation, status);
    String type = contentType.contains(";") ? contentType.substring(0, contentType.indexOf(';')) : contentType;
    if (response == null) {
      assertThat(status).as("an answer without a description is a problem: " + method + " " + path)
          .isGreaterThanOrEqualTo(400);
      assertThat(type).isEqualTo("application/problem+json");
      checkValue(JsonTree.at(document, "components", "schemas", "Problem"), JsonTree.parse(body), "$", true);
      return;
    }
    Object content = JsonTree.at(response, "content", type);
    assertThat(content).as("the type " + type + " of " + method + " " + path + " " + status).isNotNull();
    if (type.endsWith("json") && !type.contains("ndjson")) {
      checkValue(JsonTree.at(content, "schema"), JsonTree.parse(body), "$", true);
    }
  }

  private @Nullable Object operation(String method, String path) {
    String withoutQuery = path.contains("?") ? path.substring(0, path.indexOf('?')) : path;
    String template = paths.entrySet().stream().filter(entry -> entry.getValue().matcher(withoutQuery).matches())
        .map(Map.Entry::getKey).findFirst().orElse(null);
    return template == null ? null : JsonTree.at(paths().get(template), method.toLowerCase(Locale.ROOT));
  }

  /**
   * Asserts that the body of an accepted request conforms to the description. A field that is null is treated as
   * absent, except in a patch. A request may have fields of answers. A batch is not checked, because the server accepts
   * it with invalid items.
   */
  void checkRequest(String method, String path, String contentType, String body) {
    Object operation = operation(method, path);
    boolean isJson = contentType.endsWith("json") && !contentType.contains("ndjson") && !body.isBlank();
    if (operation != null && isJson && !path.contains(":batch")) {
      Object content = resolve(JsonTree.at(operation, "requestBody", "content", contentType));
      assertThat(content).as("the type " + contentType + " of " + method + " " + path).isNotNull();
      Object value = JsonTree.parse(body);
      checkValue(JsonTree.at(content, "schema"), method.equals("PATCH") ? value : withoutNulls(value),
          "the request " + method + " " + path, false);
    }
  }

  private static @Nullable Object withoutNulls(@Nullable Object value) {
    return switch (value) {
      case Map<?, ?> object -> {
        Map<String, @Nullable Object> kept = new TreeMap<>();
        object.forEach((name, member) -> {
          if (member != null) {
            kept.put(String.valueOf(name), withoutNulls(member));
          }
        });
        yield kept;
      }
      case List<?> list -> new ArrayList<>(list.stream().map(Description::withoutNulls).toList());
      case null -> null;
      default -> value;
    };
  }

  /** Asserts that a value conforms to a schema. */
  void checkExample(Object schema, @Nullable Object value, String where) {
    checkValue(schema, value, where, true);
  }

  private @Nullable Object response(Object operation, int status) {
    Object exact = JsonTree.at(operation, "responses", Integer.toString(status));
    return resolve(exact != null || status < 400 ? exact : JsonTree.at(operation, "responses", "default"));
  }

  private @Nullable Object resolve(@Nullable Object schema) {
    Object value = schema;
    while (value instanceof Map<?, ?> map && map.get("$ref") instanceof String ref) {
      value = JsonTree.at(document, (Object[]) ref.substring(2).split("/"));
      assertThat(value).as(ref).isNotNull();
    }
    return value;
  }

  private void checkValue(@Nullable Object schemaOrRef, @Nullable Object value, String where, boolean isStrict) {
    Map<String, Object> schema = (Map<String, Object>) requireNonNull(resolve(schemaOrRef), where);
    if (schema.get("oneOf") instanceof List<?> choices) {
      List<AssertionError> failures = new ArrayList<>();
      for (Object choice : choices) {
        try {
          checkValue(choice, value, where, isStrict);
        } catch (AssertionError e) {
          failures.add(e);
        }
      }
      assertThat(failures).as(where + " matches exactly one choice").hasSize(choices.size() - 1);
      return;
    }
    if (schema.get("enum") instanceof List<?> words) {
      assertThat((List<Object>) words).as(where).contains(value);
      return;
    }
    Object type = schema.get("type");
    if (type instanceof List<?> types) {
      assertThat((List<Object>) types).as(where).contains(typeOf(value));
    } else if (type != null) {
      String found = typeOf(value);
      assertThat(found.equals("integer") && type.equals("number") ? "number" : found).as(where).isEqualTo(type);
    }
    switch (value) {
      case Map<?, ?> object when type != null -> checkObject(schema, (Map<String, @Nullable Object>) object,
          where, isStrict);
      case List<?> list when type != null -> {
        for (int i = 0; i < list.size(); i++) {
          checkValue(schema.get("items"), list.get(i), where + "[" + i + "]", isStrict);
        }
      }
      case String text -> checkText(schema, text, where);
      case null, default -> {
        // Only the types of numbers, booleans and null are checked.
      }
    }
  }

  private void checkObject(Map<String, Object> schema, Map<String, @Nullable Object> object, String where,
      boolean isStrict) {
    if (schema.get("required") instanceof List<?> required) {
      assertThat(object.keySet()).as(where).containsAll((List<String>) required);
    }
    Map<String, Object> properties = schema.get("properties") instanceof Map<?, ?> map
        ? (Map<String, Object>) map
        : Map.of();
    Object others = Boolean.FALSE.equals(schema.get("additionalProperties"))
        ? null
        : schema.get("additionalProperties");
    boolean permitsAny = properties.isEmpty() && Boolean.TRUE.equals(others);
    object.forEach((name, member) -> {
      Object property = properties.getOrDefault(name, others);
      boolean isClosed = isStrict || Boolean.FALSE.equals(schema.get("additionalProperties"));
      assertThat(permitsAny || property != null || !isClosed).as(where + "." + name + " is described").isTrue();
      if (property != null && !permitsAny) {
        checkValue(property, member, where + "." + name, isStrict);
      }
    });
  }

  private static void checkText(Map<String, Object> schema, String text, String where) {
    if (schema.get("pattern") instanceof String pattern) {
      assertThat(text).as(where).containsPattern(pattern);
    }
    if ("date-time".equals(schema.get("format"))) {
      try {
        Instant.parse(text);
      } catch (DateTimeParseException e) {
        throw new AssertionError(where + " is an instant: " + text, e);
      }
    }
    if ("uuid".equals(schema.get("format"))) {
      assertThat(UUID.fromString(text).toString()).as(where).isEqualTo(text);
    }
  }

  private static String typeOf(@Nullable Object value) {
    return switch (value) {
      case null -> "null";
      case Map<?, ?> map -> "object";
      case List<?> list -> "array";
      case String text -> "string";
      case Boolean truth -> "boolean";
      case BigDecimal number -> number.scale() <= 0 ? "integer" : "number";
      default -> value.getClass().getName();
    };
  }
}
