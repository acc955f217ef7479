package io.foliot.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class WordsTest {
  @Test
  void figuresHaveAboutThreeDigits() {
    assertThat(Words.count(0)).isEqualTo("0");
    assertThat(Words.count(3.14)).isEqualTo("3.1");
    assertThat(Words.count(9_999)).isEqualTo("9999");
    assertThat(Words.count(12_345)).isEqualTo("12.3k");
    assertThat(Words.count(1_234_567)).isEqualTo("1.2M");
    assertThat(Words.seconds(0.00042)).isEqualTo("420 us");
    assertThat(Words.seconds(0.0042)).isEqualTo("4.2 ms");
    assertThat(Words.seconds(0.42)).isEqualTo("420 ms");
    assertThat(Words.seconds(Double.NaN)).isEqualTo("-");
    assertThat(Words.seconds(7_470)).isEqualTo("2h 4m");
    assertThat(Words.rough("957387ms")).isEqualTo("15m 57s");
    assertThat(Words.rough("?")).isEqualTo("?");
    assertThat(Words.bytes(512L << 20)).isEqualTo("512 MiB");
  }

  @Test
  void tablesAreAlignedAndShowNoControlCharacters() {
    Table table = new Table().left("NAME").right("COUNT");
    table.row("a\u001b[2J", 12_345);
    table.row("longer", 7);
    assertThat(table.lines()).containsExactly("NAME    COUNT", "a\uFFFD[2J   12345", "longer      7");
  }
}
