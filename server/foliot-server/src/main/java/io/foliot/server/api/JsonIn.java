package io.foliot.server.api;

import static io.foliot.server.api.ProblemKind.CONFLICTING_FIELDS;
import static io.foliot.server.api.ProblemKind.INVALID_FIELD;
import static io.foliot.server.api.ProblemKind.MALFORMED_JSON;
import static io.foliot.server.api.ProblemKind.MISSING_FIELD;
import static io.foliot.server.api.ProblemKind.UNKNOWN_FIELD;

import io.foliot.api.DurationText;
import io.foliot.api.FieldType;
import io.foliot.api.InstantText;
import io.foliot.server.text.Nearest;
import io.foliot.server.text.WellFormed;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;

/**
 * A streaming reader of a body. It reports each mistake with its place, the expected value and the value found. It
 * treats a null field as absent: methods that read one value then return null. Used by one thread.
 */
final class JsonIn implements AutoCloseable {
  /** Maximum number of characters of a text that messages show. */
  private static final int SHOWN = 64;
  /** A description of the source in a message of the parser. */
  private static final Pattern PARSER_DETAILS = Pattern.compile(" ?\\([^()]*\\[Source: .*?\\]\\)");

  private final byte[] source;
  private final JsonParser parser;

  /**
   * Creates a reader at the beginning of a body.
   *
   * @throws Problem if the bytes are not UTF-8
   */
  JsonIn(byte[] source) {
    int mistake = Utf8.firstMistake(source);
    if (mistake >= 0) {
      throw new Problem(MALFORMED_JSON, "expected JSON in UTF-8, but the body is not UTF-8: byte=" + mistake)
          .with("byte", mistake);
    }
    this.source = source;
    parser = Json.parser(source);
  }

  /** A reader of the fields of an object. */
  @FunctionalInterface
  interface Field {
    /**
     * Reads the value at the reader's position.
     *
     * @return whether the object may have a field with this name
     */
    boolean read(String name);
  }

  /** Moves to the next token and returns it, or returns null at the end of the body. */
  @Nullable
  JsonToken next() {
    return parser.nextToken();
  }

  /** Returns whether the reader is at the beginning of an object. */
  boolean isObject() {
    return parser.currentToken() == JsonToken.START_OBJECT;
  }

  /** Returns the number of open objects and arrays. At the start of an object, this object is included. */
  int depth() {
    return parser.streamReadContext().getNestingDepth();
  }

  /** Skips to the end of an object. {@code depth} is the value of {@link #depth()} inside the object. */
  void leave(int depth) {
    while (depth() >= depth) {
      if (parser.nextToken() == null) {
        return;
      }
    }
  }

  /** Skips to the end of the value at the reader's position. */
  void skip() {
    parser.skipChildren();
  }

  /** Reads the only object of the body. */
  void only(List<String> known, Field field) {
    if (parser.nextToken() == null) {
      throw new Problem(MISSING_FIELD, "expected a JSON object, but the body is empty; the fields are "
          + String.join(", ", known));
    }
    object("the body", known, field);
    end();
  }

  /** Ensures that no value follows. */
  void end() {
    if (parser.nextToken() != null) {
      TokenStreamLocation at = parser.currentTokenLocation();
      throw malformed("something follows the end of the JSON value", at);
    }
  }

  /**
   * Reads the object at the reader's position.
   *
   * @param what the object's name in messages
   * @param known the names of the object's fields, for messages
   */
  void object(String what, List<String> known, Field field) {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw wrongType(what, "an object");
    }
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      if (!field.read(name)) {
        throw unknown(prefix(what) + shown(name), name, known);
      }
    }
  }

  /** Reads the object at the reader's position; null is read as an object in which each field is null. */
  void objectOrEach(String what, List<String> known, Field field) {
    if (isNull()) {
      known.forEach(field::read);
    } else {
      object(what, known, field);
    }
  }

  /**
   * Returns the prefix of a field's name in messages: the name of the object around the field, or nothing if
   * {@code what} is a description such as "the body".
   */
  private static String prefix(String what) {
    return what.indexOf(' ') >= 0 ? "" : what + '.';
  }

  /**
   * Returns the problem of a field that the call does not have.
   *
   * @param field the full name of the field, which begins with the names of the objects around the field
   * @param name the name of the field alone
   * @param known the fields that the object may have
   */
  static Problem unknown(String field, String name, List<String> known) {
    Problem problem = new Problem(UNKNOWN_FIELD, "there is no field " + field + " here: " + Nearest.hint(name, known))
        .with("field", field);
    String nearest = Nearest.of(name, known);
    return nearest == null ? problem.with("known", known) : problem.with("nearest", nearest);
  }

  boolean isNull() {
    return parser.currentToken() == JsonToken.VALUE_NULL;
  }

  @Nullable
  String text(String field) {
    if (parser.currentToken() == JsonToken.VALUE_STRING) {
      return wellFormed(field, parser.getString());
    }
    if (isNull()) {
      return null;
    }
    throw wrongType(field, "a string");
  }

  private static String wellFormed(String field, String text) {
    if (!WellFormed.is(text)) {
      throw invalid(field, "Unicode text", "half a surrogate pair");
    }
    return text;
  }

  @Nullable
  Duration duration(String field) {
    if (parser.currentToken() != JsonToken.VALUE_STRING && !isNull()) {
      throw wrongType(field, DurationText.EXPECTED);
    }
    String text = text(field);
    try {
      return text == null ? null : DurationText.parse(text);
    } catch (IllegalArgumentException e) {
      throw invalidText(field, DurationText.EXPECTED, String.valueOf(text));
    }
  }

  /**
   * Reads a duration that may have a minus sign. The caller refuses a negative duration with a message that names the
   * permitted range.
   */
  @Nullable
  Duration signedDuration(String field) {
    String text = parser.currentToken() == JsonToken.VALUE_STRING ? text(field) : null;
    if (text == null || !text.startsWith("-")) {
      return duration(field);
    }
    try {
      return DurationText.parse(text.substring(1)).negated();
    } catch (IllegalArgumentException e) {
      throw invalidText(field, DurationText.EXPECTED, text);
    }
  }

  @Nullable
  Instant instant(String field) {
    if (parser.currentToken() != JsonToken.VALUE_STRING && !isNull()) {
      throw wrongType(field, InstantText.EXPECTED);
    }
    String text = text(field);
    try {
      return text == null ? null : InstantText.parse(text);
    } catch (IllegalArgumentException e) {
      throw invalidText(field, InstantText.EXPECTED, String.valueOf(text));
    }
  }

  @Nullable
  Integer integer(String field, int min, int max) {
    if (isNull()) {
      return null;
    }
    String expected = "a whole number from " + min + " to " + max;
    if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw wrongType(field, expected);
    }
    boolean fits = parser.getNumberType() == JsonParser.NumberType.INT;
    if (!fits || parser.getIntValue() < min || parser.getIntValue() > max) {
      throw invalid(field, expected, shown(parser.getString()));
    }
    return parser.getIntValue();
  }

  /** Ensures that the value is null or a whole number of any size, and discards it. */
  void anyInteger(String field) {
    if (!isNull() && parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw wrongType(field, "a whole number");
    }
  }

  @Nullable
  Double number(String field) {
    if (isNull()) {
      return null;
    }
    if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT && parser.currentToken() != JsonToken.VALUE_NUMBER_FLOAT) {
      throw wrongType(field, "a number");
    }
    return parser.getDoubleValue();
  }

  /** Reads a number within a range, both ends included. */
  @Nullable
  Double number(String field, double min, double max) {
    Double value = number(field);
    if (value != null && !(value >= min && value <= max)) {
      throw invalid(field, "a number from " + plain(min) + " to " + plain(max), shown(parser.getString()));
    }
    return value;
  }

  private static String plain(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }

  @Nullable
  Boolean truth(String field) {
    if (isNull()) {
      return null;
    }
    if (parser.currentToken() != JsonToken.VALUE_TRUE && parser.currentToken() != JsonToken.VALUE_FALSE) {
      throw wrongType(field, "true or false");
    }
    return parser.currentToken() == JsonToken.VALUE_TRUE;
  }

  <E extends Enum<E>> @Nullable E choice(String field, Class<E> type) {
    return choice(field, List.of(type.getEnumConstants()));
  }

  /** Reads the word of one of these constants. */
  <E extends Enum<E>> @Nullable E choice(String field, List<E> constants) {
    String text = text(field);
    if (text == null) {
      return null;
    }
    List<String> known = constants.stream().map(FieldType::word).toList();
    int index = known.indexOf(text);
    if (index < 0) {
      throw invalidText(field, "one of " + String.join(", ", known), text, Nearest.of(text, known));
    }
    return constants.get(index);
  }

  /** Reads an array of at most {@code max} strings. A longer array is an invalid field. */
  @Nullable
  List<String> texts(String field, int max) {
    return texts(field, max, () -> invalid(field, "at most " + max + " strings", "more"));
  }

  /**
   * Reads an array of at most {@code max} strings. The problem of a longer array says to send the items in several
   * calls.
   */
  @Nullable
  List<String> batch(String field, int max) {
    return texts(field, max, () -> new Problem(ProblemKind.TOO_LARGE,
        field + " has at most " + max + " items; send the items in several calls").with("field", field)
        .with("limit", max));
  }

  private @Nullable List<String> texts(String field, int max, Supplier<Problem> tooMany) {
    if (isNull()) {
      return null;
    }
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw wrongType(field, "an array of strings");
    }
    List<String> texts = new ArrayList<>();
    for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
      if (token != JsonToken.VALUE_STRING) {
        throw wrongType(field + "[" + texts.size() + "]", "a string");
      }
      if (texts.size() == max) {
        throw tooMany.get();
      }
      texts.add(wellFormed(field, parser.getString()));
    }
    return texts;
  }

  /** Reads an object of strings; null is read as an empty object. */
  Map<String, String> textMap(String field) {
    Map<String, String> map = new LinkedHashMap<>();
    if (isNull()) {
      return map;
    }
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw wrongType(field, "an object of strings");
    }
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      if (parser.nextToken() != JsonToken.VALUE_STRING) {
        throw wrongType(field + "." + shown(name), "a string");
      }
      map.put(wellFormed(field, name), wellFormed(field, parser.getString()));
    }
    return map;
  }

  /** Reads a string, a number or a boolean as text. */
  @Nullable
  String scalar(String field) {
    return switch (parser.currentToken()) {
      case VALUE_STRING -> text(field);
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT, VALUE_TRUE, VALUE_FALSE -> parser.getString();
      case VALUE_NULL -> null;
      default -> throw wrongType(field, "a string, a number, true or false");
    };
  }

  /** Returns the bytes of the value at the reader's position, as they were sent. */
  byte[] raw() {
    int from = offset(parser.currentTokenLocation());
    if (parser.currentToken() == JsonToken.START_OBJECT || parser.currentToken() == JsonToken.START_ARRAY) {
      parser.skipChildren();
    } else {
      parser.finishToken();
    }
    return Arrays.copyOfRange(source, from, offset(parser.currentLocation()));
  }

  private static int offset(TokenStreamLocation location) {
    return Math.toIntExact(location.getByteOffset());
  }

  /** Reads a string of Base64 and returns its bytes. */
  byte @Nullable [] base64(String field) {
    String text = text(field);
    try {
      return text == null ? null : Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw invalid(field, "bytes in Base64 (RFC 4648, with padding)", "a string that is not Base64");
    }
  }

  /**
   * Returns the problem of a field with an unexpected value.
   *
   * @param found a description of the value, such as "an empty array"
   */
  static Problem invalid(String field, String expected, String found) {
    return invalid(field, expected, found, found);
  }

  static Problem invalidText(String field, String expected, String text) {
    return invalid(field, expected, quoted(text), shown(text));
  }

  /**
   * Returns the problem of a field with an unexpected text, and a suggestion.
   *
   * @param nearest the known word that was probably meant, or null
   */
  static Problem invalidText(String field, String expected, String text, @Nullable String nearest) {
    return nearest == null
        ? invalidText(field, expected, text)
        : invalid(field, expected, quoted(text) + "; did you mean " + nearest + "?", shown(text))
            .with("nearest", nearest);
  }

  /**
   * Returns the problem of an invalid field.
   *
   * @param described the value found, for the message
   * @param found the value found, for the field {@code found} of the problem
   */
  private static Problem invalid(String field, String expected, String described, String found) {
    return new Problem(INVALID_FIELD, field + ": expected " + expected + ", but got " + described)
        .with("field", field).with("expected", expected).with("found", found);
  }

  static Problem conflicting(String first, String second) {
    return new Problem(CONFLICTING_FIELDS, second + ": expected either " + first + " or " + second
        + ", not both").with("field", second);
  }

  private Problem wrongType(String field, String expected) {
    return invalid(field, expected, found());
  }

  private String found() {
    return switch (parser.currentToken()) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> "the string " + quoted(parser.getString());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "the number " + shown(parser.getString());
      case VALUE_TRUE, VALUE_FALSE -> "the boolean " + parser.getString();
      case VALUE_NULL -> "null";
      case null, default -> "nothing";
    };
  }

  private static String quoted(String text) {
    return '"' + shown(text) + '"';
  }

  /** Returns the beginning of a text, for messages. */
  static String shown(String text) {
    return text.length() > SHOWN ? WellFormed.of(text.substring(0, SHOWN)) + "..." : text;
  }

  static Problem malformed(JacksonException e) {
    return malformed(detail(e), e.getLocation());
  }

  private static String detail(JacksonException e) {
    return e instanceof StreamConstraintsException
        ? "JSON may have at most " + Json.MAX_DEPTH + " levels, numbers of at most " + Json.MAX_NUMBER_LENGTH
            + " digits, names of at most " + Json.MAX_NAME_LENGTH + " characters, and strings of at most "
            + Json.MAX_STRING_LENGTH + " characters"
        : plain(String.valueOf(e.getOriginalMessage()));
  }

  /**
   * Returns the problem for a malformed body that should have one JSON value on each line. The problem names the first
   * line that is not a value. The exception may name a later line, because the parser continues after the end of a
   * line.
   */
  static Problem malformedLine(byte[] body, JacksonException e) {
    int number = 0;
    for (String line : new String(body, StandardCharsets.UTF_8).split("\n", -1)) {
      number++;
      JacksonException mistake = line.isBlank() ? null : mistake(line.getBytes(StandardCharsets.UTF_8));
      if (mistake != null) {
        int column = mistake.getLocation() == null ? 1 : mistake.getLocation().getColumnNr();
        return new Problem(MALFORMED_JSON, "expected a JSON value on each line, but this line is not one: "
            + detail(mistake) + ": line=" + number + ", column=" + column)
            .with("line", number).with("column", column);
      }
    }
    return malformed(e);
  }

  private static @Nullable JacksonException mistake(byte[] line) {
    try (JsonParser parser = Json.parser(line)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        parser.finishToken();
      }
      return null;
    } catch (JacksonException e) {
      return e;
    }
  }

  /** Returns a message of the parser without descriptions of the source. */
  private static String plain(String message) {
    return PARSER_DETAILS.matcher(message).replaceAll("");
  }

  private static Problem malformed(String message, @Nullable TokenStreamLocation at) {
    if (at == null) {
      return new Problem(MALFORMED_JSON, message);
    }
    return new Problem(MALFORMED_JSON, message + ": line=" + at.getLineNr() + ", column=" + at.getColumnNr())
        .with("line", at.getLineNr()).with("column", at.getColumnNr());
  }

  @Override
  public void close() {
    parser.close();
  }
}
