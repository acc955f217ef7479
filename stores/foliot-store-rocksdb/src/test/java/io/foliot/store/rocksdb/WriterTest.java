package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class WriterTest {
  @Test
  void commitsBesideClaimsAreSmallWhileFewCallsWait() {
    assertThat(Writer.mostOthers(true, true, 8_000)).isEqualTo(250);
    assertThat(Writer.mostOthers(false, true, 8_000)).isEqualTo(1_000);
    assertThat(Writer.mostOthers(false, false, 8_000)).isEqualTo(10_000);
    assertThat(Writer.mostOthers(true, true, 1_000_000)).isEqualTo(10_000);
  }

  @Test
  void commitsBesideClaimsKeepUpWithTheCalls() {
    long perCommit = 400; // 40,000 items a second, and a sync of 10 ms
    long waiting = 0;
    for (int commit = 0; commit < 10_000; commit++) {
      waiting += perCommit;
      waiting -= Math.min(waiting, Writer.mostOthers(true, true, waiting));
    }
    assertThat(waiting).isLessThan(20_000);
  }
}
