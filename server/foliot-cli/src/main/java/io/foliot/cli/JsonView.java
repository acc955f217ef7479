package io.foliot.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * An answer of the server, for looking at. What is not there is empty, zero or a dash: commands show what there is, also of
 * an older or newer server.
 */
final class JsonView {
  private static final JsonFactory FACTORY = new JsonFactory();
  private static final JsonView NOTHING = new JsonView(null);

  // A map, a list, a string (numbers too), a boolean, or null.
  private final @Nullable Object value;

  private JsonView(@Nullable Object value) {
    this.value = value;
  }

  /** Reads a text; one that is no JSON is as if it were empty. */
  static JsonView parse(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      return parser.nextToken() == null ? NOTHING : new JsonView(read(parser));
    } catch (JacksonException e) {
      return NOTHING;
    }
  }

  private static @Nullable Object read(JsonParser parser) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, JsonView> fields = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
          String name = parser.currentName();
          parser.nextToken();
          fields.put(name, new JsonView(read(parser)));
        }
        yield fields;
      }
      case START_ARRAY -> {
        List<JsonView> items = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          items.add(new JsonView(read(parser)));
        }
        yield items;
      }
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> parser.getString();
    };
  }

  /** What stands under a name, and there under the next. */
  JsonView at(String... path) {
    JsonView view = this;
    for (String name : path) {
      view = view.value instanceof Map<?, ?> fields && fields.get(name) instanceof JsonView next ? next : NOTHING;
    }
    return view;
  }

  boolean exists() {
    return value != null;
  }

  /** The items of an array. */
  List<JsonView> items() {
    return value instanceof List<?> items ? items.stream().map(JsonView.class::cast).toList() : List.of();
  }

  /** The names of an object's fields. */
  Set<String> names() {
    Set<String> names = new LinkedHashSet<>();
    if (value instanceof Map<?, ?> fields) {
      fields.keySet().forEach(name -> names.add((String) name));
    }
    return names;
  }

  /** A text, a number or a truth value as text; else a dash. */
  String text() {
    return text("-");
  }

  String text(String otherwise) {
    return value instanceof String || value instanceof Boolean ? value.toString() : otherwise;
  }

  long number() {
    try {
      return value instanceof String text ? Long.parseLong(text) : 0;
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  double decimal() {
    try {
      return value instanceof String text ? Double.parseDouble(text) : 0;
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  boolean isTrue() {
    return Boolean.TRUE.equals(value);
  }
}
