package io.foliot.server;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** JSON as maps, lists, strings, numbers ({@link BigDecimal}), booleans and null. */
final class JsonTree {
  private JsonTree() {}

  static @Nullable Object parse(String text) {
    try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), text)) {
      parser.nextToken();
      Object value = value(parser);
      if (parser.nextToken() != null) {
        throw new IllegalArgumentException("text: expected one JSON value, but got more: " + text);
      }
      return value;
    }
  }

  private static @Nullable Object value(JsonParser parser) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> object(parser);
      case START_ARRAY -> {
        List<@Nullable Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(value(parser));
        }
        yield list;
      }
      case VALUE_STRING -> parser.getString();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getDecimalValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw new IllegalArgumentException("expected a JSON value, but got " + parser.currentToken());
    };
  }

  private static Map<String, @Nullable Object> object(JsonParser parser) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      map.put(name, value(parser));
    }
    return map;
  }

  /**
   * Returns a part of a tree, or null if the part is a JSON null or is absent from its object.
   *
   * @param path the names of members and the indexes of items, from the root to the part
   */
  @SuppressWarnings("unchecked")
  static @Nullable Object at(@Nullable Object tree, Object... path) {
    Object value = tree;
    for (Object step : path) {
      value = switch (value) {
        case Map<?, ?> map -> ((Map<String, @Nullable Object>) map).get(step.toString());
        case List<?> list -> list.get((Integer) step);
        case null, default -> throw new AssertionError("there is no " + step + " in " + value);
      };
    }
    return value;
  }
}
