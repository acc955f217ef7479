package io.foliot.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AttemptMakerTest {
  private static AttemptRecord attempt(String detail) {
    return new AttemptRecord(1, 1, 0, 0, AttemptRecord.End.RETRIED, detail);
  }

  private static String detail(AttemptMaker maker, String message) {
    return AttemptMaker.detail(maker.prefix(), message);
  }

  @Test
  void theMakerAndTheMessageAreReadBack() {
    for (AttemptMaker maker : new AttemptMaker[]{AttemptMaker.NONE, new AttemptMaker("w1", "n1"),
        new AttemptMaker("", "n1"), new AttemptMaker("w", ""), new AttemptMaker("w".repeat(128), "n".repeat(128))}) {
      for (String message : new String[]{"", "503", "\u001f", "\u001fother\u001fnode\u001f503", "a\u001fb"}) {
        AttemptRecord attempt = attempt(detail(maker, message));
        assertThat(attempt.maker()).isEqualTo(maker);
        assertThat(attempt.message()).isEqualTo(message);
      }
    }
  }

  @Test
  void anUnknownMakerTakesNoRoom() {
    assertThat(detail(AttemptMaker.NONE, "")).isEmpty();
    assertThat(detail(AttemptMaker.NONE, "503")).isEqualTo("503");
  }

  @Test
  void aLongMessageIsCutBehindItsMaker() {
    AttemptMaker maker = new AttemptMaker("w".repeat(60), "n".repeat(64));
    AttemptRecord attempt = attempt(detail(maker, "x".repeat(1_000)));
    assertThat(attempt.maker()).isEqualTo(maker);
    assertThat(attempt.message()).isEqualTo("x".repeat(AttemptRecord.MAX_DETAIL));
    assertThat(attempt("x".repeat(1_000)).detail()).hasSize(AttemptRecord.MAX_DETAIL);
  }
}
