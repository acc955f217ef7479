package io.foliot.api;

import io.foliot.api.FieldType;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The type of a {@link Field}: its form as text and its bounds. The kinds are few and known, so that each reader and
 * writer of JSON, options and schemas is one switch over them.
 *
 * @param <T> the type of the values in Java
 */
public sealed interface FieldType<T> {
  /** Returns what a value must be, as in "expected a whole number from 1 to 5". */
  String expected();

  /**
   * Returns a value that has the bounds of this type, as it is stored. Without bounds, each value has them.
   *
   * @param setting the name of the field in a message
   * @throws InvalidSettingException if the value is out of its bounds
   */
  default T checked(String setting, T value) {
    return value;
  }

  /** Returns the text of a value, which {@link #parse} reads. */
  String text(T value);

  /**
   * Returns the value of a text; {@link #checked} still has to check its bounds. An object has no text.
   *
   * @param setting the name of the field in a message
   * @throws InvalidSettingException if the text is no value of this type
   */
  default T parse(String setting, String text) {
    throw new InvalidSettingException(setting, expected(), InvalidSettingException.quoted(text));
  }

  /** Returns the word of a constant: its name in lower case, with hyphens. */
  static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * A text.
   *
   * @param rule whether a text is permitted
   * @param expected what a permitted text is
   * @param pattern the rule as a regular expression of a JSON schema, or null if it is none
   */
  record Text(Predicate<String> rule, String expected, @Nullable String pattern) implements FieldType<String> {
    /** A text whose rule is checked elsewhere. */
    static final Text ANY = new Text(text -> true, "a text", null);

    @Override
    public String checked(String setting, String value) {
      InvalidSettingException.ensure(rule.test(value), setting, expected, InvalidSettingException.quoted(value));
      return value;
    }

    @Override
    public String text(String value) {
      return value;
    }

    @Override
    public String parse(String setting, String text) {
      return text;
    }
  }

  /** A whole number from {@code min} to {@code max}. */
  record Whole(int min, int max) implements FieldType<Integer> {
    @Override
    public String expected() {
      return "a whole number from " + min + " to " + max;
    }

    @Override
    public Integer checked(String setting, Integer value) {
      InvalidSettingException.ensure(value >= min && value <= max, setting, expected(), value);
      return value;
    }

    @Override
    public String text(Integer value) {
      return Integer.toString(value);
    }

    @Override
    public Integer parse(String setting, String text) {
      try {
        return Integer.valueOf(text);
      } catch (NumberFormatException e) {
        throw new InvalidSettingException(setting, expected(), InvalidSettingException.quoted(text));
      }
    }
  }

  /** A number from {@code min} to {@code max}. */
  record Decimal(double min, double max) implements FieldType<Double> {
    @Override
    public String expected() {
      return "a number from " + plain(min) + " to " + plain(max);
    }

    private static String plain(double value) {
      return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
    }

    @Override
    public Double checked(String setting, Double value) {
      InvalidSettingException.ensure(value >= min && value <= max, setting, expected(), value);
      return value;
    }

    @Override
    public String text(Double value) {
      return plain(value);
    }

    @Override
    public Double parse(String setting, String text) {
      try {
        return Double.valueOf(text);
      } catch (NumberFormatException e) {
        throw new InvalidSettingException(setting, expected(), InvalidSettingException.quoted(text));
      }
    }
  }

  /** True or false. */
  record Truth() implements FieldType<Boolean> {
    @Override
    public String expected() {
      return "true or false";
    }

    @Override
    public String text(Boolean value) {
      return value.toString();
    }

    @Override
    public Boolean parse(String setting, String text) {
      InvalidSettingException.ensure(text.equals("true") || text.equals("false"), setting, expected(),
          InvalidSettingException.quoted(text));
      return text.equals("true");
    }
  }

  /**
   * A duration.
   *
   * @param rule whether a duration is permitted
   * @param expected what a permitted duration is
   * @param isSigned whether a reader accepts a minus sign, because the message of the rule says more about it
   */
  record Span(Predicate<Duration> rule, String expected, boolean isSigned) implements FieldType<Duration> {
    /** A duration whose bounds are checked elsewhere. */
    static final Span ANY = new Span(duration -> true, DurationText.EXPECTED, true);
    /** A duration that is not negative. */
    static final Span DELAY = new Span(Limits::isDuration, "a duration from 0 to 100 years", false);

    @Override
    public Duration checked(String setting, Duration value) {
      InvalidSettingException.ensure(rule.test(value), setting, expected,
          value.isNegative() ? value : DurationText.format(value));
      return value;
    }

    @Override
    public String text(Duration value) {
      return DurationText.format(value);
    }

    @Override
    public Duration parse(String setting, String text) {
      try {
        return text.startsWith("-") ? DurationText.parse(text.substring(1)).negated() : DurationText.parse(text);
      } catch (IllegalArgumentException e) {
        throw new InvalidSettingException(setting, DurationText.EXPECTED, InvalidSettingException.quoted(text));
      }
    }
  }

  /** An instant. */
  record Time() implements FieldType<Instant> {
    @Override
    public String expected() {
      return InstantText.EXPECTED;
    }

    @Override
    public String text(Instant value) {
      return InstantText.format(value.toEpochMilli());
    }

    @Override
    public Instant parse(String setting, String text) {
      try {
        return InstantText.parse(text);
      } catch (IllegalArgumentException e) {
        throw new InvalidSettingException(setting, expected(), InvalidSettingException.quoted(text));
      }
    }
  }

  /** One of the constants of an enum, by its {@link #word}. */
  record Choice<E extends Enum<E>>(List<E> constants) implements FieldType<E> {
    public Choice {
      constants = List.copyOf(constants);
    }

    static <E extends Enum<E>> Choice<E> of(Class<E> type) {
      return new Choice<>(List.of(type.getEnumConstants()));
    }

    /** Returns the words of the constants. */
    public List<String> words() {
      return constants.stream().map(FieldType::word).toList();
    }

    @Override
    public String expected() {
      return "one of " + String.join(", ", words());
    }

    @Override
    public E checked(String setting, E value) {
      InvalidSettingException.ensure(constants.contains(value), setting, expected(), word(value));
      return value;
    }

    @Override
    public String text(E value) {
      return word(value);
    }

    @Override
    public E parse(String setting, String text) {
      for (E constant : constants) {
        if (word(constant).equals(text)) {
          return constant;
        }
      }
      throw new InvalidSettingException(setting, expected(), InvalidSettingException.quoted(text));
    }
  }

  /** A set of constants of an enum, in their order. */
  record Choices<E extends Enum<E>>(Choice<E> item) implements FieldType<Set<E>> {
    @Override
    public String expected() {
      return String.join(", ", item.words()) + (item.words().size() == 2 ? ", or both" : ", or several of them");
    }

    @Override
    public Set<E> checked(String setting, Set<E> value) {
      for (E each : value) {
        InvalidSettingException.ensure(item.constants().contains(each), setting, expected(), word(each));
      }
      return Collections.unmodifiableSet(new LinkedHashSet<>(new TreeSet<>(value)));
    }

    @Override
    public String text(Set<E> value) {
      return String.join(",", new TreeSet<>(value).stream().map(FieldType::word).toList());
    }

    @Override
    public Set<E> parse(String setting, String text) {
      return of(setting, text.isEmpty() ? List.of() : List.of(text.split(",", -1)));
    }

    /** Returns the set of the constants with these words. */
    public Set<E> of(String setting, List<String> words) {
      Set<E> set = new LinkedHashSet<>();
      for (String word : words) {
        int index = item.words().indexOf(word);
        InvalidSettingException.ensure(index >= 0, setting, expected(), InvalidSettingException.quoted(word));
        set.add(item.constants().get(index));
      }
      return checked(setting, set);
    }
  }

  /**
   * A list of texts.
   *
   * @param max the maximum number of texts
   */
  record Texts(int max) implements FieldType<List<String>> {
    private static final String SEPARATOR = "\n";

    @Override
    public String expected() {
      return "at most " + max + " strings";
    }

    @Override
    public List<String> checked(String setting, List<String> value) {
      InvalidSettingException.ensure(value.size() <= max, setting, expected(), value.size());
      return List.copyOf(value);
    }

    @Override
    public String text(List<String> value) {
      return String.join(SEPARATOR, value);
    }

    @Override
    public List<String> parse(String setting, String text) {
      return text.isEmpty() ? List.of() : Arrays.asList(text.split(SEPARATOR, -1));
    }
  }

  /** A JSON value, which is the payload of a body. */
  record Json() implements FieldType<Body> {
    @Override
    public String expected() {
      return "a JSON value";
    }

    @Override
    public String text(Body value) {
      return new String(value.payload(), StandardCharsets.UTF_8);
    }

    @Override
    public Body parse(String setting, String text) {
      return Body.json(text);
    }
  }

  /** A target, whose type has settings that only its delivery knows. */
  record Delivery() implements FieldType<Target> {
    @Override
    public String expected() {
      return "an object with a type";
    }

    @Override
    public String text(Target value) {
      return value.toString();
    }
  }

  /**
   * An object with a table of its own.
   *
   * @param fields the table
   * @param make makes the value from its fields; it checks the rules between them
   * @param take returns the fields of a value
   */
  record Nested<T>(Fields fields, Function<Values, T> make, Function<T, Values> take) implements FieldType<T> {
    @Override
    public String expected() {
      return "an object";
    }

    @Override
    public String text(T value) {
      return take.apply(value).toString();
    }
  }
}
