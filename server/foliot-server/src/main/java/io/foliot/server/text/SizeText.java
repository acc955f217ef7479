package io.foliot.server.text;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers of bytes as people write them: {@code 65536}, {@code 256KiB}, {@code 16 MiB}. */
public final class SizeText {
  /** Description of a valid size, for error messages. */
  public static final String EXPECTED = "a size such as 65536, 256KiB or 16MiB";

  private static final Pattern SIZE = Pattern.compile("(\\d{1,15}) ?(b|kib|mib|gib|k|m|g)?");

  private SizeText() {}

  /**
   * Reads a number of bytes.
   *
   * @throws IllegalArgumentException if the text is not a size; the message names the expected form
   * @throws ArithmeticException if the number of bytes is not a long
   */
  public static long parse(String text) {
    Matcher matcher = SIZE.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new IllegalArgumentException("expected " + EXPECTED + ", but got \"" + text + "\"");
    }
    String unit = matcher.group(2) == null ? "b" : matcher.group(2);
    int shift = switch (unit.charAt(0)) {
      case 'k' -> 10;
      case 'm' -> 20;
      case 'g' -> 30;
      default -> 0;
    };
    return Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << shift);
  }

  /** Returns a number of bytes as text, in the largest unit that divides the number exactly. */
  public static String format(long bytes) {
    if (bytes > 0 && bytes % (1L << 30) == 0) {
      return (bytes >> 30) + "GiB";
    }
    if (bytes > 0 && bytes % (1L << 20) == 0) {
      return (bytes >> 20) + "MiB";
    }
    return bytes > 0 && bytes % (1L << 10) == 0 ? (bytes >> 10) + "KiB" : bytes + " bytes";
  }
}
