package io.foliot.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.DurationText;
import io.foliot.api.Field;
import io.foliot.api.FieldType;
import io.foliot.api.Fields;
import io.foliot.api.JobFields;
import io.foliot.api.MisfireFields;
import io.foliot.api.QueueFields;
import io.foliot.api.RetentionFields;
import io.foliot.api.RetryFields;
import io.foliot.api.ScheduleFields;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Computes the parts of the description of the API that follow from the tables of fields, {@link Fields}: the
 * properties of the schemas of jobs and of queues. A part stands between two comments, of which
 * the first names it. This command rewrites all parts:
 *
 * <pre>
 * mvn -ntp test -pl :foliot-server -am -Dtest=FieldTablesTest -Dsurefire.failIfNoSpecifiedTests=false \
 *     -Dfoliot.pages=write
 * </pre>
 *
 * <p>The parts are text, not trees, so that the rest of the document keeps its form and its comments.
 */
final class FieldTablesTest {
  private static final Path DOCUMENT = (Files.exists(Path.of("ARCHITECTURE.md")) ? Path.of("") : Path.of("..", ".."))
      .resolve("server/foliot-server/src/main/resources/io/foliot/server/api/openapi.yaml");
  private static final String REWRITE = "mvn -ntp test -pl :foliot-server -am -Dtest=FieldTablesTest"
      + " -Dsurefire.failIfNoSpecifiedTests=false -Dfoliot.pages=write";
  /** The first and the last line of a part. The name of the part is the second group. */
  private static final Pattern PART = Pattern.compile("( *)# FieldTablesTest writes ([^:\n]+):\n(?s:.*?)\\1# End\\.\n");
  /** A pattern of a first character and a bounded number of further ones. */
  private static final Pattern BOUNDED = Pattern.compile("(\\[[^]]*]\\[[^]]*])\\{0,(\\d+)}");
  private static final int COLUMNS = 120;

  /** The tables and the names of their schemas. */
  private static final Map<Fields, String> NAMES = names();

  /** The schemas of objects that have further fields in answers, or in which answers have each field. */
  private static final Set<String> WITH_ANSWERS = Set.of("Job", "Queue", "Retry", "Retention");

  /** The uses of a table, each with its own schema. */
  private enum Use {
    /** A whole object, as a request has it. */
    SETTINGS,
    /** An object in an answer, in which no field has a default. */
    ANSWER,
    /** A JSON merge patch, in which null resets a field that need not be set. */
    PATCH
  }

  private static Map<Fields, String> names() {
    Map<Fields, String> names = new LinkedHashMap<>();
    names.put(JobFields.TABLE, "Job");
    names.put(ScheduleFields.TABLE, "Schedule");
    names.put(MisfireFields.TABLE, "Misfire");
    names.put(QueueFields.TABLE, "Queue");
    names.put(RetryFields.TABLE, "Retry");
    names.put(RetentionFields.TABLE, "Retention");
    return names;
  }

  /** The parts, by name. */
  private static Map<String, String> parts(JsonNode schemas) {
    Map<String, String> parts = new LinkedHashMap<>();
    for (Map.Entry<Fields, String> each : NAMES.entrySet()) {
      for (Use use : Use.values()) {
        if (use != Use.ANSWER || WITH_ANSWERS.contains(each.getValue())) {
          parts.put(schema(each.getValue(), use) + ", the fields of " + each.getKey().object(),
              properties(each.getKey(), use, schemas));
        }
      }
    }
    return parts;
  }

  private static String schema(String name, Use use) {
    return switch (use) {
      case SETTINGS -> WITH_ANSWERS.contains(name) ? name + "Settings" : name;
      case ANSWER -> name;
      case PATCH -> name + "Patch";
    };
  }

  // The properties of a table.

  private static String properties(Fields table, Use use, JsonNode schemas) {
    StringBuilder text = new StringBuilder();
    table.all().forEach(field -> text.append(property(field, use, schemas)));
    return text.toString();
  }

  private static <T> String property(Field<T> field, Use use, JsonNode schemas) {
    Map<String, String> keywords = new LinkedHashMap<>();
    boolean isNullable = use == Use.PATCH && !field.isRequired();
    String reference = reference(field.type(), use, schemas);
    if (reference != null && isNullable) {
      keywords.put("oneOf", "[" + reference + ", {type: 'null'}]");
    } else if (reference != null) {
      keywords.put("$ref", reference.substring("{$ref: ".length(), reference.length() - 1));
    } else {
      typed(field.type(), isNullable, keywords);
    }
    T standard = field.standard();
    if (use == Use.SETTINGS && standard != null) {
      String text = standard(field.type(), standard);
      if (text != null) {
        keywords.put("default", text);
      }
    }
    return text(field.name(), keywords, meaning(field));
  }

  /** Returns a reference to the schema of a type, or null if the type has no schema of its own. */
  private static @Nullable String reference(FieldType<?> type, Use use, JsonNode schemas) {
    return switch (type) {
      case FieldType.Span span -> reference("Duration");
      case FieldType.Time time -> reference("Instant");
      case FieldType.Text(var rule, var expected, var pattern) when pattern != null -> named(schemas, pattern);
      case FieldType.Nested<?> nested -> {
        String name = NAMES.get(nested.fields());
        assertThat(name).as("the name of the schema of " + nested.fields().object()).isNotNull();
        boolean isSame = use == Use.PATCH || WITH_ANSWERS.contains(String.valueOf(name));
        yield reference(schema(String.valueOf(name), isSame ? use : Use.SETTINGS));
      }
      case FieldType.Delivery delivery -> reference(switch (use) {
        case SETTINGS -> "Delivery";
        case ANSWER -> "QueueDelivery";
        case PATCH -> "DeliveryPatch";
      });
      default -> null;
    };
  }

  private static String reference(String name) {
    return "{$ref: '#/components/schemas/" + name + "'}";
  }

  /**
   * Returns a reference to the schema with a pattern. The schema has the length at the end of the pattern as another
   * keyword, because a comma in a pattern ends the struct tag that the generator for Go writes.
   */
  private static String named(JsonNode schemas, String pattern) {
    Matcher bounded = BOUNDED.matcher(pattern);
    String open = bounded.matches() ? bounded.group(1) + "*" : pattern;
    int length = bounded.matches() ? 1 + Integer.parseInt(bounded.group(2)) : 0;
    List<String> names = schemas.propertyStream()
        .filter(each -> each.getValue().path("pattern").asString("").equals("^" + open + "$")
            && each.getValue().path("maxLength").asInt(0) == length)
        .map(Map.Entry::getKey).toList();
    assertThat(names).as("the schema with the pattern %s and the maxLength %s; write it by hand", open, length)
        .hasSize(1);
    return reference(names.getFirst());
  }

  private static void typed(FieldType<?> type, boolean isNullable, Map<String, String> keywords) {
    String name = switch (type) {
      case FieldType.Text text -> "string";
      case FieldType.Choice<?> choice -> "string";
      case FieldType.Whole whole -> "integer";
      case FieldType.Decimal decimal -> "number";
      case FieldType.Truth truth -> "boolean";
      case FieldType.Choices<?> choices -> "array";
      case FieldType.Texts texts -> "array";
      case FieldType.Json json -> "";
      default -> throw new IllegalStateException("a type with a reference: " + type);
    };
    if (!name.isEmpty()) {
      keywords.put("type", isNullable ? "[" + name + ", 'null']" : name);
    }
    switch (type) {
      case FieldType.Whole(int min, int max) -> {
        keywords.put("format", "int32");
        keywords.put("minimum", Integer.toString(min));
        keywords.put("maximum", Integer.toString(max));
      }
      case FieldType.Decimal(double min, double max) -> {
        keywords.put("format", "double");
        keywords.put("minimum", BigDecimal.valueOf(min).stripTrailingZeros().toPlainString());
        keywords.put("maximum", BigDecimal.valueOf(max).stripTrailingZeros().toPlainString());
      }
      // The words have no schema of their own, because Go declares the words of all such schemas in one name space, and
      // several choices of a job have the word skip.
      case FieldType.Choice<?> choice -> keywords.put("enum", "[" + String.join(", ", choice.words())
          + (isNullable ? ", null]" : "]"));
      case FieldType.Choices<?> choices -> {
        keywords.put("maxItems", Integer.toString(choices.item().constants().size()));
        keywords.put("items", "{type: string, enum: [" + String.join(", ", choices.item().words()) + "]}");
      }
      case FieldType.Texts(int max) -> {
        keywords.put("maxItems", Integer.toString(max));
        keywords.put("items", "{type: string}");
      }
      default -> {
        // Other types have no bounds.
      }
    }
  }

  /** Returns a default, or null if it is an object, or says that there is nothing. */
  private static <T> @Nullable String standard(FieldType<T> type, T value) {
    String text = type.text(value);
    return switch (type) {
      case FieldType.Nested<T> nested -> null;
      case FieldType.Delivery delivery -> null;
      case FieldType.Json json -> null;
      case FieldType.Choices<?> choices -> text.isEmpty() ? null : "[" + text + "]";
      case FieldType.Texts texts -> text.isEmpty() ? null : "[" + text.replace("\n", ", ") + "]";
      default -> text.isEmpty() ? null : text;
    };
  }

  /** Returns the help of a field as a sentence, with the rule of its type if the schema has no keyword for it. */
  private static String meaning(Field<?> field) {
    String help = field.help().substring(0, 1).toUpperCase(Locale.ROOT) + field.help().substring(1);
    String expected = field.type().expected();
    boolean isRule = field.type() instanceof FieldType.Span && !expected.equals(DurationText.EXPECTED);
    return isRule ? help + "; " + expected : help;
  }

  // The text of a property: a line if it is short, else a line for each keyword.

  private static String text(String name, Map<String, String> keywords, String meaning) {
    String indent = " ".repeat(8);
    List<String> pairs = new ArrayList<>();
    keywords.forEach((keyword, value) -> pairs.add(keyword + ": " + value));
    String line = indent + name + ": {" + String.join(", ", pairs) + (pairs.isEmpty() ? "" : ", ") + "description: '"
        + meaning.replace("'", "''") + "'}\n";
    if (line.length() <= COLUMNS + 1) {
      return line;
    }
    StringBuilder text = new StringBuilder(indent).append(name).append(":\n");
    pairs.forEach(pair -> text.append(indent).append("  ").append(pair).append('\n'));
    String description = indent + "  description: '" + meaning.replace("'", "''") + "'";
    if (description.length() <= COLUMNS) {
      return text.append(description).append('\n').toString();
    }
    text.append(indent).append("  description: |\n");
    StringBuilder row = new StringBuilder(indent).append("   ");
    for (String word : meaning.split(" ", -1)) {
      if (row.length() + 1 + word.length() > COLUMNS) {
        text.append(row).append('\n');
        row = new StringBuilder(indent).append("   ");
      }
      row.append(' ').append(word);
    }
    return text.append(row).append('\n').toString();
  }

  private static JsonNode schemas(String document) {
    return new YAMLMapper().readTree(document).at("/components/schemas");
  }

  @Test
  void theDocumentHasTheFieldsOfTheTables() throws IOException {
    String document = Files.readString(DOCUMENT);
    Map<String, String> parts = parts(schemas(document));
    List<String> found = new ArrayList<>();
    StringBuilder computed = new StringBuilder();
    Matcher matcher = PART.matcher(document);
    while (matcher.find()) {
      String name = matcher.group(2);
      found.add(name);
      assertThat(parts).as("the parts that follow from a table").containsKey(name);
      String lines = matcher.group(1) + "# FieldTablesTest writes " + name + ":\n" + parts.get(name) + matcher.group(1)
          + "# End.\n";
      matcher.appendReplacement(computed, Matcher.quoteReplacement(lines));
    }
    matcher.appendTail(computed);
    assertThat(found).as("the document has each part once").containsExactlyInAnyOrderElementsOf(parts.keySet());
    if (System.getProperty("foliot.pages", "").equals("write")) {
      Files.writeString(DOCUMENT, computed);
      document = computed.toString();
    }
    assertThat(document).as("openapi.yaml differs from the tables; this command rewrites it: %s", REWRITE)
        .isEqualTo(computed.toString());
  }

  @Test
  void theRequiredFieldsAreThoseOfTheTables() throws IOException {
    JsonNode schemas = schemas(Files.readString(DOCUMENT));
    NAMES.forEach((table, name) -> {
      List<String> required = table.all().stream().filter(Field::isRequired).map(Field::name).toList();
      assertThat(schemas.path(schema(name, Use.SETTINGS)).path("required").valueStream().map(JsonNode::asString)
          .toList()).as(name).isEqualTo(required);
      assertThat(schemas.path(schema(name, Use.PATCH)).has("required")).as(name).isFalse();
    });
  }

  @Test
  void aPropertyHasTheBoundsOfItsType() {
    Map<String, String> keywords = new LinkedHashMap<>();
    typed(new FieldType.Decimal(0.5, 100), true, keywords);
    assertThat(keywords).containsExactly(Map.entry("type", "[number, 'null']"), Map.entry("format", "double"),
        Map.entry("minimum", "0.5"), Map.entry("maximum", "100"));
    assertThat(standard(JobFields.TIMEOUT.type(), Duration.ofMinutes(90))).isEqualTo("90m");
    assertThat(meaning(JobFields.TIMEOUT)).endsWith("; a duration above 0 and at most 24 h");
  }
}
