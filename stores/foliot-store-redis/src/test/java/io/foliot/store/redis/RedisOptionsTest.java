package io.foliot.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.store.SetAside;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class RedisOptionsTest {
  @Test
  void theBuilderKeepsAllOptionsAndChecksTheSlots() {
    Consumer<SetAside> listener = setAside -> {};
    RedisOptions full = RedisOptions.builder("redis://:secret@127.0.0.1").namespace("n").slots(2)
        .timeout(Duration.ofSeconds(3)).waitReplicas(4).onSetAside(listener).build();
    assertThat(full).isEqualTo(
        new RedisOptions("redis://:secret@127.0.0.1", "n", 2, Duration.ofSeconds(3), 4, listener));
    assertThat(full.toBuilder().build()).isEqualTo(full);
    assertThat(full.toString()).doesNotContain("secret");
    assertThatThrownBy(() -> full.toBuilder().slots(3).build()).hasMessageContaining("power of two");
  }
}
