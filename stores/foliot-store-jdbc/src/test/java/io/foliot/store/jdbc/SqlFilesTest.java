package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

final class SqlFilesTest {
  private final SqlFiles files = new SqlFiles("test", Map.of("table", "t", "number", "7"));

  @Test
  void commentsAndLineBreaksAreNotSent() {
    assertThat(files.text("whole")).isEqualTo("SELECT a , b FROM t WHERE c = 7 AND d % 2 = 0");
  }

  @Test
  void aFileWithoutADialectAppliesToAllDialects() {
    assertThat(files.text("common")).isEqualTo("SELECT 1");
  }

  @Test
  void aPartIsFilledLikeAStatement() {
    assertThat(files.part("even")).isEqualTo("d % 2 = 0");
  }

  @Test
  void aCallFillsTheGapsAndChoosesTheLines() {
    SqlFiles.Template template = files.template("open", "columns", "some?", "ids", "ordered?");

    assertThat(template.with("columns", "a, b").with("ids", "1, 2").when("some", true).when("ordered", true).text())
        .isEqualTo("SELECT a, b FROM t WHERE id IN (1, 2) ORDER BY a, b");
    assertThat(template.with("columns", 1).when("some", false).when("ordered", false).text())
        .isEqualTo("SELECT 1 FROM t");
  }

  @Test
  void aCallMustGiveAValueForEachNameThatItSends() {
    SqlFiles.Template template = files.template("open", "columns", "some?", "ids", "ordered?");

    assertThatThrownBy(() -> template.with("columns", "a").when("some", true).when("ordered", false).text())
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("file=open, name=ids");
    assertThatThrownBy(() -> template.with("columns", "a").when("some", false).text())
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("file=open, name=ordered?");
    assertThatThrownBy(() -> template.with("column", "a")).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("file=open, name=column");
  }

  @Test
  void aMissingFileFailsWithTheNameOfTheFile() {
    assertThatThrownBy(() -> files.text("missing")).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("file=sql/missing.test.sql");
  }

  @Test
  void anUnknownNameFailsWithTheNameOfAFile() {
    assertThatThrownBy(() -> files.text("nameless")).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("file=sql/parts/nothing.test.sql");
    assertThatThrownBy(() -> files.text("odd")).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("file=sql/odd.test.sql");
  }

  @Test
  void aCallerDeclaresExactlyTheOpenNamesOfAFile() {
    assertThatThrownBy(() -> files.template("open", "columns", "ids", "ordered?"))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("file=open").hasMessageContaining("some?");
    assertThatThrownBy(() -> files.template("whole", "wanted")).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("file=whole").hasMessageContaining("wanted");
  }

  @Test
  void eachDialectHasAllItsStatements() {
    assertThat(new PostgresDialect(1, false).kind()).isEqualTo("postgresql");
    assertThat(new MySqlDialect(1, true).kind()).isEqualTo("mariadb");
    assertThat(new MySqlDialect(1, false).kind()).isEqualTo("mysql");
  }
}
