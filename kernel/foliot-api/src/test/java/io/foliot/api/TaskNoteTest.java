package io.foliot.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

final class TaskNoteTest {
  @Test
  void aLaterNoteReplacesOnlyTheValuesThatItSets() {
    TaskNote earlier = new TaskNote(0.25, "a", "c1", "l1");
    assertThat(TaskNote.NONE.over(earlier)).isEqualTo(earlier);
    assertThat(new TaskNote(0, "", null, "").over(earlier)).isEqualTo(new TaskNote(0, "a", "c1", "l1"));
    assertThat(new TaskNote(-1, "b", "", "l2").over(earlier)).isEqualTo(new TaskNote(0.25, "b", "", "l2"));
    assertThat(TaskNote.NONE.isEmpty()).isTrue();
    assertThat(new TaskNote(0, "", null, "").isEmpty()).isFalse();
  }

  @Test
  void valuesTooLargeAreRefusedButALogIsCutAtItsStart() {
    assertThatIllegalArgumentException().isThrownBy(() -> new TaskNote(1.01, "", null, ""))
        .withMessageContaining("progress is from 0 to 1");
    assertThatIllegalArgumentException().isThrownBy(() -> new TaskNote(Double.NaN, "", null, ""));
    assertThatIllegalArgumentException().isThrownBy(() -> new TaskNote(0, "x".repeat(201), null, ""))
        .withMessageContaining("200");
    assertThatIllegalArgumentException().isThrownBy(() -> new TaskNote(0, "", "\u00fc".repeat(8 << 10) + "x", ""))
        .withMessageContaining("16384 bytes").withMessageContaining("bytes=16385");
    assertThat(new TaskNote(0, "", "\u00fc".repeat(8 << 10), "").checkpoint()).hasSize(8 << 10);
    assertThat(new TaskNote(0, "", null, "first" + "x".repeat(TaskNote.MAX_LOG)).log()).hasSize(TaskNote.MAX_LOG)
        .startsWith("xx");
    String pairs = "x" + "\ud83d\ude00".repeat(TaskNote.MAX_LOG / 2);
    assertThat(new TaskNote(0, "", null, pairs + "y").log()).startsWith("\ud83d").endsWith("y");
    assertThat(new TaskNote(0, "", null, pairs).log()).hasSize(TaskNote.MAX_LOG);
  }
}
