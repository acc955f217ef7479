package io.foliot.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests the settings of queues: their defaults, bounds and changes. */
final class QueueConfigTest {
  private static final QueueConfig PLAIN = QueueConfig.of("q", Target.pull());

  @Test
  void eachSettingHasADefault() {
    assertThat(PLAIN.retry()).isEqualTo(Retry.DEFAULT);
    assertThat(PLAIN.priority()).isZero();
    assertThat(PLAIN.rate()).isNull();
    assertThat(PLAIN.concurrency()).isNull();
    assertThat(PLAIN.maxWait()).isNull();
    assertThat(PLAIN.maxRun()).isEqualTo(Duration.ofDays(1));
    assertThat(PLAIN.maxJobs()).isEqualTo(10_000);
    assertThat(PLAIN.maxShards()).isEqualTo(100_000);
    assertThat(PLAIN.retention()).isEqualTo(new Retention(Duration.ofHours(1), Duration.ofDays(14)));
    assertThat(PLAIN.paused()).isFalse();
  }

  @Test
  void aBuilderKeepsUnchangedValues() {
    Retry retry = new Retry(7, Duration.ofHours(1), 1.5, Duration.ofHours(2), 0.3);
    QueueConfig full = QueueConfig.builder("q", Target.pull()).retry(retry).priority(-3).rate(12.5).concurrency(4)
        .maxWait(Duration.ZERO).maxRun(Duration.ofHours(1)).maxJobs(3).maxShards(5)
        .retainFinished(Duration.ofHours(2)).retainFailed(Duration.ofHours(3)).paused(true).build();
    assertThat(full.toBuilder().build()).isEqualTo(full).hasSameHashCodeAs(full).isNotEqualTo(PLAIN);
    assertThat(full.retention()).isEqualTo(new Retention(Duration.ofHours(2), Duration.ofHours(3)));
    assertThat(full.with(QueueFields.PAUSED, null).paused()).isFalse();
    assertThat(QueueConfig.of("q", full.values())).isEqualTo(full);
  }

  @Test
  void aSettingOutOfItsBoundsIsRefused() {
    assertRefused(queue -> queue.priority(11), "priority: expected a whole number from -10 to 10, but got 11");
    assertRefused(queue -> queue.rate(0.0), "rate: expected a number from 0.001 to 1000000000, but got 0.0");
    assertRefused(queue -> queue.rate(Double.NaN), "rate: expected a number");
    assertRefused(queue -> queue.concurrency(0), "concurrency: expected a whole number from 1 to 2147483647");
    assertRefused(queue -> queue.maxWait(Duration.ofMillis(-1)), "maxWait: expected a duration from 0 to 100 years");
    assertRefused(queue -> queue.maxRun(Duration.ofDays(36_526)), "maxRun: expected a duration from 0 to 100 years");
    assertRefused(queue -> queue.maxJobs(-1), "maxJobs: expected a whole number from 0 to 100000000, but got -1");
    assertRefused(queue -> queue.maxShards(0), "maxShards: expected a whole number from 1 to 100000000, but got 0");
    assertThatThrownBy(() -> QueueConfig.of("a b", Target.pull())).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> QueueConfig.of("q", Values.of(QueueFields.TABLE)))
        .isInstanceOf(InvalidSettingException.class).hasMessageStartingWith("delivery: expected");
  }

  private static void assertRefused(UnaryOperator<QueueConfig.Builder> change, String message) {
    assertThatThrownBy(() -> change.apply(PLAIN.toBuilder()).build()).isInstanceOf(InvalidSettingException.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void aTargetShowsNoValuesOfItsSettings() {
    Target target = new Target("http", Map.of("url", "http://127.0.0.1/token", "secret", "s3"), Duration.ofSeconds(1));
    assertThat(target.with("secret", "new").with("url", null)).isEqualTo(
        new Target("http", Map.of("secret", "new"), Duration.ofSeconds(1)));
    assertThat(QueueConfig.of("q", target)).asString().contains("secret").doesNotContain("s3", "token");
  }
}
