package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.foliot.core.store.StoreException;
import io.foliot.testkit.SettableClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class RoomTest {
  @Test
  void aMeasurementThatFailsKeepsTheLastFigure() {
    SettableClock clock = new SettableClock();
    AtomicInteger measurements = new AtomicInteger();
    Room room = new Room(Path.of("folder"), 1_000, folder -> {
      if (measurements.incrementAndGet() == 2) {
        throw new StoreException("too many open files", null);
      }
      return 5_000;
    }, clock);
    for (int i = 0; i < 3; i++) {
      clock.advance(Duration.ofMillis(100));
      assertThatCode(room::ensure).doesNotThrowAnyException();
    }
    assertThat(measurements).hasValue(4);
    assertThat(room.lastFreeBytes()).isEqualTo(5_000);
  }
}
