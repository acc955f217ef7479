package io.foliot.api;

import java.time.DateTimeException;
import java.time.Instant;

/** Instants as text, in the format of RFC 3339. */
public final class InstantText {
  /** Description of a valid instant, for error messages. */
  public static final String EXPECTED = "an instant such as \"2026-11-21T09:30:00Z\"";

  private static final long MILLIS_PER_DAY = 86_400_000L;
  // 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z: RFC 3339 has four digits for the year.
  private static final long MIN_MILLIS = -62_167_219_200_000L;
  private static final long MAX_MILLIS = 253_402_300_799_999L;
  /** Maximum number of characters of a text that is parsed, and that an error message repeats. */
  private static final int MAX_LENGTH = 64;

  private InstantText() {}

  /**
   * Reads an instant.
   *
   * @throws IllegalArgumentException if the text is not an instant of the years 0 to 9999; the message says what was
   *     expected
   */
  public static Instant parse(String text) {
    if (text.length() <= MAX_LENGTH) {
      try {
        Instant instant = Instant.parse(text);
        if (instant.getEpochSecond() >= MIN_MILLIS / 1_000 && instant.getEpochSecond() <= MAX_MILLIS / 1_000) {
          return instant;
        }
        throw new IllegalArgumentException("expected an instant of the years 0 to 9999, but got \"" + text + "\"");
      } catch (DateTimeException e) {
        throw new IllegalArgumentException("expected " + EXPECTED + ", but got \"" + text + "\"", e);
      }
    }
    throw new IllegalArgumentException("expected " + EXPECTED + ", but got " + text.length() + " characters");
  }

  /**
   * Formats an instant in UTC with milliseconds. The JDK's general formatter took most of the time of a response with
   * thousands of instants, so this method computes the fields itself. It follows Howard Hinnant's {@code chrono}
   * algorithms: a year begins in March, and an era of 400 years has 146,097 days. An instant before 1970 or after the
   * year 9999 is formatted by {@link Instant#toString}.
   *
   * @param millis milliseconds since 1970
   */
  public static String format(long millis) {
    if (millis < 0 || millis > MAX_MILLIS) {
      return Instant.ofEpochMilli(millis).toString();
    }
    // Days since 0000-03-01, which is 719,468 days before 1970-01-01.
    long shifted = millis / MILLIS_PER_DAY + 719_468;
    int era = (int) (shifted / 146_097);
    int dayOfEra = (int) (shifted - era * 146_097L);
    int yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
    int dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    int monthFromMarch = (5 * dayOfYear + 2) / 153;
    int day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1;
    int month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
    int year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
    int milliOfDay = (int) (millis % MILLIS_PER_DAY);

    char[] text = "0000-00-00T00:00:00.000Z".toCharArray();
    put(text, 0, 4, year);
    put(text, 5, 2, month);
    put(text, 8, 2, day);
    put(text, 11, 2, milliOfDay / 3_600_000);
    put(text, 14, 2, milliOfDay / 60_000 % 60);
    put(text, 17, 2, milliOfDay / 1_000 % 60);
    put(text, 20, 3, milliOfDay % 1_000);
    return new String(text);
  }

  private static void put(char[] text, int at, int digits, int value) {
    for (int i = at + digits - 1; i >= at; i--) {
      text[i] = (char) ('0' + value % 10);
      value /= 10;
    }
  }
}
