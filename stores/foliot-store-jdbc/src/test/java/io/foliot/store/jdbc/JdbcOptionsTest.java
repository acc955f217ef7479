package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.store.SetAside;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class JdbcOptionsTest {
  private static final String URL = "jdbc:postgresql://127.0.0.1/tasks";

  @Test
  void theBuilderKeepsAllOptionsAndChecksTheSlots() {
    List<JdbcPart> parts = List.of(new JdbcPart(0, JdbcSource.of(URL, "u", "p")),
        new JdbcPart(1, JdbcSource.of(URL, "v", "q")));
    Consumer<SetAside> listener = setAside -> {};
    JdbcOptions full = JdbcOptions.builder(parts).slots(2).connections(3).timeout(Duration.ofSeconds(4))
        .onSetAside(listener).build();
    assertThat(full).isEqualTo(new JdbcOptions(parts, 2, 3, Duration.ofSeconds(4), listener));
    assertThat(full.toBuilder().build()).isEqualTo(full);
    assertThatThrownBy(() -> full.toBuilder().slots(3).build()).hasMessageContaining("power of two");
  }
}
