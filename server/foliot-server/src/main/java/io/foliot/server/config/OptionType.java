package io.foliot.server.config;

import io.foliot.api.DurationText;
import io.foliot.server.text.SizeText;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The type of an option's values.
 *
 * @param expected the description of the valid values, for messages
 * @param parse reads a text; throws {@link IllegalArgumentException} or {@link ArithmeticException} if the text is
 *     not a valid value
 */
record OptionType<T>(String expected, Function<String, T> parse) {
  static final OptionType<String> TEXT = new OptionType<>("a text", text -> text);

  private static final Pattern SHA_256 = Pattern.compile("[0-9a-f]{64}");

  /** Returns the type of a short name, which may be empty. */
  static OptionType<String> name() {
    return new OptionType<>("a name of at most 64 letters, digits and . _ -, such as node-1", text -> {
      ensure(text.length() <= 64 && text.chars().allMatch(c -> c < 0x80 && (Character.isLetterOrDigit(c) || c == '.'
          || c == '_' || c == '-')));
      return text;
    });
  }

  static OptionType<Integer> count(int min, int max, int example) {
    return new OptionType<>("a whole number from " + min + " to " + max + " such as " + example, text -> {
      int value = Integer.parseInt(text.replace("_", ""));
      ensure(value >= min && value <= max);
      return value;
    });
  }

  static OptionType<Duration> duration(String min, String max, String example) {
    return new OptionType<>("a duration from " + min + " to " + max + " such as " + example, text -> {
      Duration value = DurationText.parse(text);
      ensure(value.compareTo(DurationText.parse(min)) >= 0 && value.compareTo(DurationText.parse(max)) <= 0);
      return value;
    });
  }

  static OptionType<Long> size(String min, String max, String example) {
    return new OptionType<>("a size from " + min + " to " + max + " such as " + example, text -> {
      long value = SizeText.parse(text);
      ensure(value >= SizeText.parse(min) && value <= SizeText.parse(max));
      return value;
    });
  }

  static OptionType<String> choice(String... words) {
    List<String> known = List.of(words);
    return new OptionType<>("one of " + String.join(", ", known), text -> {
      ensure(known.contains(text));
      return text;
    });
  }

  static OptionType<List<String>> list(String of) {
    return new OptionType<>("a list of " + of,
        text -> Arrays.stream(text.split(",")).map(String::strip).filter(part -> !part.isEmpty()).toList());
  }

  static OptionType<String> sha256() {
    return new OptionType<>("the 64 hexadecimal digits that printf %s KEY | sha256sum prints, or nothing", text -> {
      ensure(text.isEmpty() || SHA_256.matcher(text).matches());
      return text;
    });
  }

  private static void ensure(boolean holds) {
    if (!holds) {
      throw new IllegalArgumentException();
    }
  }
}
