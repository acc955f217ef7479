package io.foliot.engine;

import static io.foliot.testkit.DocumentContract.assertGuarded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.QueueConfig;
import io.foliot.api.Retention;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.MalformedException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that documents of the engine are read as they were written, and that damaged documents are refused. */
final class EngineDocumentsTest {
  private static final QueueConfig FULL = QueueConfig
      .builder("q",
          new Target("http", Map.of("url", "http://127.0.0.1/", "secret", "s"), Duration.ofMillis(1_500)))
      .retry(new Retry(7, Duration.ofMillis(5), 1.5, Duration.ofHours(1), 0.3)).priority(-3).rate(12.5).concurrency(4)
      .maxWait(Duration.ofHours(2)).maxRun(Duration.ofHours(3)).maxJobs(77).maxShards(78)
      .retention(new Retention(Duration.ofHours(4), Duration.ofDays(5))).paused(true).build();

  @Test
  void settingsOfAQueueAreReadAsTheyWereWritten() {
    assertThat(QueueCodec.decode(QueueCodec.encode(FULL))).isEqualTo(FULL);
    QueueConfig plain = QueueConfig.of("p", Target.pull());
    assertThat(QueueCodec.decode(QueueCodec.encode(plain))).isEqualTo(plain);
  }

  @Test
  void theTimeOfADeletionIsReadWithTheSettings() {
    assertThat(QueueCodec.decodeAll(QueueCodec.encode(FULL)))
        .isEqualTo(new QueueCodec.Decoded(FULL, QueueCodec.OPEN));
    byte[] closing = QueueCodec.encode(FULL, 1_234);
    assertThat(QueueCodec.decodeAll(closing)).isEqualTo(new QueueCodec.Decoded(FULL, 1_234));
    assertThat(QueueCodec.decode(closing)).isEqualTo(FULL);
  }

  @Test
  void damagedSettingsOfAQueueAreRefused() {
    assertGuarded("queue", QueueCodec.encode(FULL), QueueCodec::decode);
  }

  @Test
  void damagedPermitsAreRefused() {
    PermitRecord record = PermitRecord.EMPTY.with(new PermitRecord.Holder(-1, "n1", 3, 500, 9, 1_000))
        .with(new PermitRecord.Holder(2, "n2", 1, 0, 2, Long.MAX_VALUE));
    assertThat(PermitRecord.decode(record.encode())).isEqualTo(record);
    assertGuarded("permits", record.encode(), PermitRecord::decode);
  }

  @Test
  void permitsWithAnInvalidCountOfHoldersAreMalformed() {
    for (int count : List.of(-1, 10_001, Integer.MAX_VALUE)) {
      byte[] bytes = DocumentFormat.encode("permits", out -> out.varint(count));
      assertThatThrownBy(() -> PermitRecord.decode(bytes)).isInstanceOf(MalformedException.class);
    }
  }
}
