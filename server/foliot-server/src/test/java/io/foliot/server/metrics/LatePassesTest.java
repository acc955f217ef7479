package io.foliot.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class LatePassesTest {
  /** A monotonic clock may begin anywhere, also below 0. */
  private long nowNanos = -1_000 * LatePasses.WINDOW_NANOS;
  private final LatePasses passes = new LatePasses(nowNanos);

  /** Makes 100 passes within a window, of which some are 7 s late. */
  private void window(int late) {
    for (int i = 0; i < 100; i++) {
      passes.passed(i < late ? 7_000 : 5, nowNanos);
      nowNanos += LatePasses.WINDOW_NANOS / 100;
    }
  }

  @Test
  void planningIsLateWhileHalfOfThePassesAre() {
    window(0);
    window(40);
    assertThat(passes.lateMillis(nowNanos)).isZero();
    window(60);
    assertThat(passes.lateMillis(nowNanos)).isEqualTo(7_000);
    window(0);
    assertThat(passes.lateMillis(nowNanos)).isZero();
  }

  @Test
  void aServerThatPlansNothingIsNotLate() {
    window(100);
    assertThat(passes.lateMillis(nowNanos)).isEqualTo(7_000);
    assertThat(passes.lateMillis(nowNanos + 3 * LatePasses.WINDOW_NANOS)).isZero();
  }
}
