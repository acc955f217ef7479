package io.foliot.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Compares the parsing of random duration texts with exact sums and with the JDK. The tests of foliot-cli have a table
 * of fixed cases for the command line, the configuration and the API.
 */
final class DurationTextTest {
  private static final int RUNS = 20_000;
  private static final List<String> UNITS = List.of("w", "d", "h", "m", "s", "ms");
  private static final long[] UNIT_MILLIS = {604_800_000, 86_400_000, 3_600_000, 60_000, 1_000, 1};

  private static String fraction(Random random) {
    StringBuilder digits = new StringBuilder();
    for (int i = 1 + random.nextInt(9); i > 0; i--) {
      digits.append(random.nextInt(10));
    }
    return digits.toString();
  }

  /** Returns a text in upper case, except the unit m. */
  private static String upperCase(String text) {
    return text.toUpperCase(Locale.ROOT).replaceAll("M(?!S)", "m");
  }

  @Test
  void aMonthIsNotReadAsAMinute() {
    for (String month : List.of("1M", "1h1M", "1M30s", "P1M")) {
      assertThatThrownBy(() -> DurationText.parse(month)).as(month).isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> DurationText.parse("1M")).hasMessage(
        "expected a duration such as \"30m\", but got \"1M\"; m is a minute, and there are no months");
    assertThat(DurationText.parse("1MS")).isEqualTo(Duration.ofMillis(1));
    assertThat(DurationText.parse("PT1M")).isEqualTo(Duration.ofMinutes(1));
  }

  @Test
  void aSumOfUnitsIsTheSumOfItsParts() {
    Random random = new Random(11);
    for (int run = 0; run < RUNS; run++) {
      StringBuilder text = new StringBuilder();
      BigDecimal millis = BigDecimal.ZERO;
      int last = random.nextInt(UNITS.size());
      for (int unit = 0; unit <= last; unit++) {
        if (unit < last && random.nextBoolean()) {
          continue;
        }
        String number = Long.toString(random.nextLong(1L << random.nextInt(1, 24)));
        if (unit == last && random.nextBoolean()) {
          number = (random.nextBoolean() ? number : "") + "." + fraction(random);
        }
        text.append(number).append(UNITS.get(unit));
        millis = millis.add(new BigDecimal("0" + number).multiply(BigDecimal.valueOf(UNIT_MILLIS[unit])));
      }
      String written = random.nextBoolean() ? text.toString() : upperCase(text.toString());
      BigInteger[] whole = millis.movePointRight(6).toBigInteger().divideAndRemainder(BigInteger.TEN.pow(9));
      assertThat(DurationText.parse(written)).as(written)
          .isEqualTo(Duration.ofSeconds(whole[0].longValueExact(), whole[1].longValueExact()));
    }
  }

  @Test
  void isoTextsOfTheJdkAreReadBack() {
    Random random = new Random(12);
    for (int run = 0; run < RUNS; run++) {
      Duration duration = Duration.ofSeconds(random.nextLong(1L << random.nextInt(1, 50)),
          random.nextBoolean() ? random.nextInt(1_000_000_000) : 0);
      assertThat(DurationText.parse(duration.toString())).isEqualTo(duration);
    }
  }

  @Test
  void formattedDurationsAreReadBack() {
    Random random = new Random(7);
    for (int run = 0; run < RUNS; run++) {
      Duration duration = switch (run % 4) {
        case 0 -> Duration.ofMillis(random.nextLong(1L << 40));
        case 1 -> Duration.ofMinutes(random.nextLong(1L << 20));
        case 2 -> Duration.ofDays(random.nextLong(1L << 15));
        default -> Duration.ofNanos(random.nextLong(1L << 40));
      };
      assertThat(DurationText.parse(DurationText.format(duration))).isEqualTo(duration);
    }
    assertThat(DurationText.format(Duration.ofMinutes(90))).isEqualTo("90m");
    assertThat(DurationText.format(Duration.ZERO)).isEqualTo("0s");
  }

  /**
   * Checks that each text is refused or parsed to a duration whose milliseconds fit a long. A text that the JDK accepts
   * too must have the same duration.
   */
  @Test
  void anyTextIsADurationOrRefused() {
    Random random = new Random(13);
    String letters = "wdhmsPTpt0123456789.-+ ,x";
    int accepted = 0;
    for (int run = 0; run < 10 * RUNS; run++) {
      StringBuilder any = new StringBuilder(random.nextBoolean() ? "P" : "");
      for (int i = random.nextInt(8); i > 0; i--) {
        any.append(letters.charAt(random.nextInt(letters.length())));
      }
      String text = any.toString();
      Duration duration;
      try {
        duration = DurationText.parse(text);
      } catch (IllegalArgumentException e) {
        assertThat(e).hasMessage("expected a duration such as \"30m\", but got \"" + text + "\"");
        continue;
      }
      accepted++;
      assertThat(duration.isNegative()).isFalse();
      assertThat(duration.toMillis()).isNotNegative();
      try {
        assertThat(duration).as(text).isEqualTo(Duration.parse(text));
      } catch (DateTimeException e) {
        // The JDK refuses texts such as "30m", and weeks.
      }
    }
    assertThat(accepted).isGreaterThan(1_000);
  }

  @Test
  void messagesCutLongTextsAndReplaceControlCharacters() {
    assertThatThrownBy(() -> DurationText.parse("9".repeat(10_000))).hasMessageEndingWith("9...\"")
        .message().hasSizeLessThan(100);
    assertThatThrownBy(() -> DurationText.parse("a\u0007\n\ud83d")).hasMessageEndingWith("\"a   \"");
  }

  @Test
  void roughTextsHaveAtMostTheTwoLargestUnits() {
    assertThat(List.of("0s", "7ms", "999ms", "1s", "1.5s", "9990ms", "58s", "59999ms", "2m", "1798453ms", "124m", "26h",
        "3d").stream().map(text -> DurationText.rough(DurationText.parse(text)))).containsExactly("0 s", "7 ms",
            "999 ms", "1 s", "1.5 s", "9.9 s", "58 s", "59 s", "2m", "29m 58s", "2h 4m", "1d 2h", "3d");
    assertThat(DurationText.rough(Duration.ofSeconds(-90))).isEqualTo("-1m 30s");
  }
}
