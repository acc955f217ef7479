package io.foliot.cli;

import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A JSON response of the server, for display. Missing fields are empty, zero or a dash, so that commands can also show
 * the responses of an older or newer server.
 */
final class JsonView {
  // Numbers keep the digits that the server wrote. Text after the JSON value is an error.
  private static final JsonMapper MAPPER = JsonMapper.builder()
      .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
      .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
      .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
      .build();

  private final JsonNode node;

  /**
   * Parses the JSON value of an option.
   *
   * @param option the option's name, for the message of a failure
   * @throws CommandException if the text is not JSON
   */
  static JsonNode node(String text, String option) {
    try {
      return MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw CommandException.usage(option + ": expected JSON such as {\"kind\": \"daily\"}, but got " + text);
    }
  }

  private JsonView(@Nullable JsonNode node) {
    this.node = node == null ? MissingNode.getInstance() : node;
  }

  /** Parses a text; returns a view without fields if the text is not JSON. */
  static JsonView parse(String text) {
    try {
      return new JsonView(MAPPER.readTree(text));
    } catch (JacksonException e) {
      return new JsonView(null);
    }
  }

  /** Returns the text of a JSON object with one field, an array of these items. */
  static String object(String field, List<JsonView> items) {
    ObjectNode object = MAPPER.createObjectNode();
    ArrayNode array = object.putArray(field);
    items.forEach(item -> array.add(item.node));
    return MAPPER.writeValueAsString(object);
  }

  /** Returns the value at a path of field names. If a field is missing, {@link #exists} of the result is false. */
  JsonView at(String... path) {
    JsonNode found = node;
    for (String name : path) {
      found = found.path(name);
    }
    return new JsonView(found);
  }

  boolean exists() {
    return !node.isMissingNode() && !node.isNull();
  }

  /** Returns the items of an array; no items for any other value. */
  List<JsonView> items() {
    return node.isArray() ? node.valueStream().map(JsonView::new).toList() : List.of();
  }

  /** Returns the names of an object's fields; no names for any other value. */
  Collection<String> names() {
    return node.propertyNames();
  }

  /** Returns a text, a number or a boolean as text; a dash for anything else. */
  String text() {
    return text("-");
  }

  String text(String otherwise) {
    return exists() && node.isValueNode() ? node.asString() : otherwise;
  }

  /** Returns a text, a number or a boolean as text, and any other value as JSON. */
  String json() {
    return node.isValueNode() ? node.asString() : node.toString();
  }

  /** Returns the value itself, which the caller may change. */
  JsonNode node() {
    return node;
  }

  long number() {
    return node.asLong(0);
  }

  double decimal() {
    return node.asDouble(0);
  }

  boolean isTrue() {
    return node.isBoolean() && node.booleanValue();
  }
}
