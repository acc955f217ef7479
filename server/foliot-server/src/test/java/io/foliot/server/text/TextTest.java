package io.foliot.server.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.InstantText;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests the text forms of instants and sizes, the nearest name, and the repair of invalid text. */
class TextTest {
  private static final DateTimeFormatter ORACLE = DateTimeFormatter
      .ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
      .withZone(ZoneOffset.UTC);

  @Test
  void instantsAreWrittenAsJavaTimeWritesThem() {
    long seed = Long.getLong("foliot.seed", new Random().nextLong());
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      // An instant from 1970 to 9999.
      long millis = random.nextLong(253_402_300_800_000L);
      assertThat(InstantText.format(millis)).as("seed=" + seed).isEqualTo(ORACLE.format(Instant.ofEpochMilli(millis)));
    }
    for (long day = 0; day < 150_000; day++) {
      long millis = day * 86_400_000L;
      assertThat(InstantText.format(millis)).isEqualTo(ORACLE.format(Instant.ofEpochMilli(millis)));
    }
    assertThat(InstantText.format(0)).isEqualTo("1970-01-01T00:00:00.000Z");
    assertThat(InstantText.format(253_402_300_799_999L)).isEqualTo("9999-12-31T23:59:59.999Z");
    assertThat(Instant.parse(InstantText.format(Long.MAX_VALUE)).toEpochMilli()).isEqualTo(Long.MAX_VALUE);
    assertThat(Instant.parse(InstantText.format(-1)).toEpochMilli()).isEqualTo(-1);
  }

  @Test
  void onlyASimilarNameIsTheNearest() {
    List<String> known = List.of("delay", "dueAt", "payload", "payloadBase64", "server.port");
    assertThat(Nearest.of("dealy", known)).isEqualTo("delay");
    assertThat(Nearest.of("due_at", known)).isEqualTo("dueAt");
    assertThat(Nearest.of("pay-load", known)).isEqualTo("payload");
    assertThat(Nearest.of("zzz", known)).isNull();
    assertThat(Nearest.of("x".repeat(100_000), known)).isNull();
    assertThat(Nearest.hint("zzz", known)).startsWith("known are delay");
  }

  @Test
  void sizesAreReadAndWritten() {
    assertThat(SizeText.parse("256KiB")).isEqualTo(262_144);
    assertThat(SizeText.parse("16 mib")).isEqualTo(16L << 20);
    assertThat(SizeText.parse("65536")).isEqualTo(65_536);
    assertThat(SizeText.format(SizeText.parse("3GiB"))).isEqualTo("3GiB");
    assertThatThrownBy(() -> SizeText.parse("1.5M")).hasMessageContaining("256KiB");
  }

  @Test
  void unpairedSurrogatesAreReplaced() {
    assertThat(WellFormed.of("a\ud800b")).isEqualTo("a?b");
    assertThat(WellFormed.of("a\ud83d\ude00b")).isEqualTo("a\ud83d\ude00b");
    assertThat(WellFormed.is("\ude00")).isFalse();
  }
}
