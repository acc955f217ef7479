package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class DrainTest {
  private final Drain drain = new Drain();
  private final CompletableFuture<Boolean> answer = new CompletableFuture<>();

  @Test
  void aDrainEndsOnlyAfterItHasStoppedClaiming() {
    assertThat(drain.isClaiming(100)).isTrue();
    drain.begin(answer, 10, 50, 100);
    assertThat(drain.isClaiming(109)).isTrue();
    drain.turn(() -> true, 109);
    assertThat(answer).as("the node still claims").isNotDone();
    assertThat(drain.isClaiming(110)).isFalse();
    drain.turn(() -> true, 110);
    assertThat(answer).isCompletedWithValue(true);
  }

  @Test
  void aDrainFailsWhenItsPatienceEnds() {
    drain.begin(answer, 0, 50, 100);
    assertThat(drain.isClaiming(100)).isFalse();
    drain.turn(() -> false, 149);
    assertThat(answer).isNotDone();
    drain.turn(() -> false, 150);
    assertThat(answer).isCompletedWithValue(false);
  }
}
