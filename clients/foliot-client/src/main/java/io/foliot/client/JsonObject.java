package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.api.Body;
import io.foliot.api.DurationText;
import io.foliot.api.Field;
import io.foliot.api.FieldType;
import io.foliot.api.Fields;
import io.foliot.api.Target;
import io.foliot.api.Values;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.TokenStreamLocation;

/**
 * A JSON object of an answer. Unread fields are ignored. A getter throws an {@link UnreadableAnswerException} if the
 * field has another type than the method returns, or if the field is missing or null. However, methods whose names end
 * in {@code OrNull} return null for a field that is missing or null, and methods for collections return an empty
 * collection.
 */
final class JsonObject {
  /*
   * The tree of parsed JSON keeps, for each field, the offsets of its text in the answer. A payload can therefore be
   * returned unchanged.
   */

  static final JsonObject EMPTY = new JsonObject(Map.of(), new byte[0], 0, 0);

  /**
   * Names of fields with content from users, of any size and depth. The values of these fields are not parsed to a
   * tree. A header of a task may have such a name too; its value is a string, and is parsed.
   */
  private static final Set<String> OPAQUE = Set.of("payload");
  private static final String HEADERS = "headers";

  /**
   * A value, and the offsets of its text in the answer.
   *
   * @param value a String for a string, a number or a boolean; a JsonObject for an object; a list of Values for an
   *     array; null for a JSON null and for an opaque value
   * @param from the offset of the first byte
   * @param to the offset after the last byte
   */
  private record Value(JsonToken kind, @Nullable Object value, int from, int to) {}

  private final Map<String, Value> fields;
  private final byte[] source;
  private final int from;
  private final int to;

  private JsonObject(Map<String, Value> fields, byte[] source, int from, int to) {
    this.fields = fields;
    this.source = source;
    this.from = from;
    this.to = to;
  }

  /**
   * Parses an answer that is one JSON object.
   *
   * @throws UnreadableAnswerException if the answer is not one JSON object
   */
  static JsonObject parse(byte[] source) {
    List<JsonObject> roots = parseAll(source);
    if (roots.size() != 1) {
      throw new UnreadableAnswerException("an answer must be one JSON object: objects=" + roots.size());
    }
    return roots.getFirst();
  }

  /** Parses an answer that is an array of objects, or a sequence of objects such as NDJSON. */
  static List<JsonObject> parseAll(byte[] source) {
    List<JsonObject> roots = new ArrayList<>();
    try (JsonParser parser = Json.FACTORY.createParser(ObjectReadContext.empty(), source)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token != JsonToken.START_ARRAY && token != JsonToken.END_ARRAY) {
          roots.add(requireObject("answer", value(source, parser, "", "")));
        }
      }
    } catch (JacksonException e) {
      throw new UnreadableAnswerException("an answer must be JSON: " + e.getOriginalMessage(), e);
    }
    return roots;
  }

  /**
   * Reads the value that begins at the parser's current token, and moves the parser to the last token of the value.
   *
   * @param field the name of the field that has this value; empty for the root and for an item of an array
   * @param parent the name of the field that contains the object or array around this value; empty if there is none
   */
  private static Value value(byte[] source, JsonParser parser, String field, String parent) {
    JsonToken kind = parser.currentToken();
    int from = offset(parser.currentTokenLocation());
    Object value = null;
    if (OPAQUE.contains(field) && !parent.equals(HEADERS)) {
      parser.skipChildren();
      parser.finishToken();
    } else if (kind == JsonToken.START_OBJECT) {
      Map<String, Value> fields = new LinkedHashMap<>();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        fields.put(name, value(source, parser, name, field));
      }
      value = new JsonObject(fields, source, from, offset(parser.currentLocation()));
    } else if (kind == JsonToken.START_ARRAY) {
      List<Value> items = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        items.add(value(source, parser, "", field));
      }
      value = items;
    } else if (kind != JsonToken.VALUE_NULL) {
      value = parser.getString();
    }
    return new Value(kind, value, from, offset(parser.currentLocation()));
  }

  private static int offset(TokenStreamLocation location) {
    return Math.toIntExact(location.getByteOffset());
  }

  /** Returns the names of the fields, in the order of the answer. */
  Set<String> names() {
    return fields.keySet();
  }

  /** Returns whether a field is present and not null. */
  boolean has(String name) {
    Value value = fields.get(name);
    return value != null && value.kind() != JsonToken.VALUE_NULL;
  }

  /** Returns whether a field is present and a string. */
  boolean isText(String name) {
    Value value = fields.get(name);
    return value != null && value.kind() == JsonToken.VALUE_STRING;
  }

  /** Returns the JSON text of this object, as in the answer. */
  String json() {
    return new String(source, from, to - from, UTF_8);
  }

  /** Returns the JSON text of a field's value, as in the answer. For a JSON null, this is the text {@code null}. */
  String json(String name) {
    Value value = require(name, fields.get(name));
    return new String(source, value.from(), value.to() - value.from(), UTF_8);
  }

  String text(String name) {
    return require(name, textOrNull(name));
  }

  @Nullable
  String textOrNull(String name) {
    return convert(name, value -> {
      if (value.kind() != JsonToken.VALUE_STRING) {
        throw wrongType(name, "a string");
      }
      return (String) value.value();
    });
  }

  long number(String name) {
    return require(name, numberOrNull(name));
  }

  @Nullable
  Long numberOrNull(String name) {
    return convert(name, value -> {
      if (value.kind() != JsonToken.VALUE_NUMBER_INT) {
        throw wrongType(name, "an integer");
      }
      try {
        return Long.valueOf(require(name, (String) value.value()));
      } catch (NumberFormatException e) {
        throw new UnreadableAnswerException("an integer must fit 64 bits: field=" + name, e);
      }
    });
  }

  int integer(String name) {
    return require(name, integerOrNull(name));
  }

  @Nullable
  Integer integerOrNull(String name) {
    Long number = numberOrNull(name);
    if (number != null && number != number.intValue()) {
      throw new UnreadableAnswerException("an integer must fit 32 bits: field=" + name + ", value=" + number);
    }
    return number == null ? null : number.intValue();
  }

  @Nullable
  Double decimalOrNull(String name) {
    return convert(name, value -> {
      if (!value.kind().isNumeric()) {
        throw wrongType(name, "a number");
      }
      return Double.valueOf(require(name, (String) value.value()));
    });
  }

  @Nullable
  Boolean truthOrNull(String name) {
    return convert(name, value -> {
      if (!value.kind().isBoolean()) {
        throw wrongType(name, "true or false");
      }
      return value.kind() == JsonToken.VALUE_TRUE;
    });
  }

  Instant instant(String name) {
    return require(name, instantOrNull(name));
  }

  @Nullable
  Instant instantOrNull(String name) {
    String text = textOrNull(name);
    try {
      return text == null ? null : Instant.parse(text);
    } catch (DateTimeException e) {
      throw new UnreadableAnswerException("an instant must be in RFC 3339: field=" + name + ", value=" + text, e);
    }
  }

  @Nullable
  Duration durationOrNull(String name) {
    String text = textOrNull(name);
    try {
      return text == null ? null : DurationText.parse(text);
    } catch (IllegalArgumentException e) {
      throw new UnreadableAnswerException("a duration must be readable: field=" + name + ", value=" + text, e);
    }
  }

  /** Returns whether a field is present and true. */
  boolean isTrue(String name) {
    return Boolean.TRUE.equals(truthOrNull(name));
  }

  /** Returns the constant whose name is the value of a field. A newer server may have constants that are not known. */
  <E extends Enum<E>> E constant(String name, E[] known) {
    String text = text(name);
    for (E constant : known) {
      if (constant.name().equals(text)) {
        return constant;
      }
    }
    throw new UnreadableAnswerException(
        "the client does not know a value of a newer server; update io.foliot:foliot-client: field=" + name + ", value="
            + text);
  }

  byte @Nullable [] base64OrNull(String name) {
    String text = textOrNull(name);
    try {
      return text == null ? null : Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw new UnreadableAnswerException("bytes must be in Base64: field=" + name, e);
    }
  }

  /** Returns the values of the fields of a table that this object has. Other fields are ignored. */
  private Values values(Fields fields) {
    Values values = Values.of(fields);
    for (Field<?> field : fields.all()) {
      if (has(field.name())) {
        values = with(values, field);
      }
    }
    return values;
  }

  /**
   * Returns the object that is made of the fields of a table.
   *
   * @throws UnreadableAnswerException if a field has another type, or a setting is none that this client knows
   */
  <T> T made(Fields fields, Function<Values, T> make) {
    try {
      return make.apply(values(fields));
    } catch (IllegalArgumentException e) {
      throw new UnreadableAnswerException("an answer has a setting that the client does not know; update"
          + " io.foliot:foliot-client: " + e.getMessage(), e);
    }
  }

  private <T> Values with(Values values, Field<T> field) {
    return values.with(field, value(field));
  }

  @SuppressWarnings("unchecked") // each case returns a value of its type
  private <T> T value(Field<T> field) {
    String name = field.name();
    return (T) switch (field.type()) {
      case FieldType.Whole whole -> integer(name);
      case FieldType.Decimal decimal -> require(name, decimalOrNull(name));
      case FieldType.Truth truth -> require(name, truthOrNull(name));
      case FieldType.Text text -> text(name);
      case FieldType.Span span -> require(name, durationOrNull(name));
      case FieldType.Time time -> instant(name);
      case FieldType.Choice<?> choice -> choice.parse(name, text(name));
      case FieldType.Choices<?> choices -> choices.of(name, texts(name));
      case FieldType.Texts texts -> texts(name);
      case FieldType.Json json -> Body.json(json(name));
      case FieldType.Delivery delivery -> object(name).target();
      case FieldType.Nested<?> nested -> object(name).made(nested.fields(), nested.make());
    };
  }

  private Target target() {
    Map<String, String> settings = new LinkedHashMap<>();
    names().stream().filter(name -> !name.equals("type") && !name.equals("timeout"))
        .forEach(name -> settings.put(name, isText(name) ? text(name) : json(name)));
    Duration timeout = durationOrNull("timeout");
    return new Target(text("type"), settings, timeout == null ? Target.DEFAULT_TIMEOUT : timeout);
  }

  JsonObject object(String name) {
    return requireObject(name, require(name, fields.get(name)));
  }

  @Nullable
  JsonObject objectOrNull(String name) {
    return has(name) ? object(name) : null;
  }

  /** Returns the objects of an array; an empty list if the field is missing or null. */
  List<JsonObject> objects(String name) {
    return items(name).stream().map(item -> requireObject(name, item)).toList();
  }

  /** Returns the strings of an array; an empty list if the field is missing or null. */
  List<String> texts(String name) {
    return items(name).stream().map(item -> {
      if (item.kind() != JsonToken.VALUE_STRING) {
        throw wrongType(name, "an array of strings");
      }
      return require(name, (String) item.value());
    }).toList();
  }

  /** Returns the fields of an object of strings, in their order; an empty map if the field is missing or null. */
  Map<String, String> textMap(String name) {
    JsonObject object = has(name) ? object(name) : EMPTY;
    Map<String, String> map = new LinkedHashMap<>();
    object.names().forEach(key -> map.put(key, object.text(key)));
    return map;
  }

  private List<Value> items(String name) {
    Value value = has(name) ? fields.get(name) : null;
    if (value == null) {
      return List.of();
    }
    if (!(value.value() instanceof List<?> items)) {
      throw wrongType(name, "an array");
    }
    return items.stream().map(Value.class::cast).toList();
  }

  private <T> @Nullable T convert(String name, Function<Value, @Nullable T> conversion) {
    Value value = fields.get(name);
    return value == null || value.kind() == JsonToken.VALUE_NULL ? null : conversion.apply(value);
  }

  private static JsonObject requireObject(String name, Value value) {
    if (!(value.value() instanceof JsonObject object)) {
      throw wrongType(name, "an object");
    }
    return object;
  }

  private static <T> T require(String name, @Nullable T value) {
    if (value == null) {
      throw new UnreadableAnswerException("an answer lacks a field: field=" + name);
    }
    return value;
  }

  private static UnreadableAnswerException wrongType(String name, String type) {
    return new UnreadableAnswerException("a field must be " + type + ": field=" + name);
  }
}
