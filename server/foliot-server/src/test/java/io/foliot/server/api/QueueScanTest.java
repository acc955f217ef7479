package io.foliot.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Scheduler;
import io.foliot.core.TimeSource;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class QueueScanTest {
  // The monotonic time overflows during the test.
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
  private final TimeSource clock = new TimeSource() {
    @Override
    public long wallMicros() {
      return 0;
    }

    @Override
    public long monotonicNanos() {
      return nanos.get();
    }
  };
  private final Scheduler unused = (Scheduler) Proxy.newProxyInstance(QueueScanTest.class.getClassLoader(),
      new Class<?>[]{Scheduler.class}, (proxy, method, arguments) -> {
        throw new UnsupportedOperationException(method.getName());
      });

  @Test
  void anEmptyPageIsReadForLonger() {
    try (SchedulerBridge calls = new SchedulerBridge(Duration.ofSeconds(5))) {
      QueueScan scan = new QueueScan(unused, calls, clock, "small");
      assertThat(scan.hasTime(false)).isTrue();
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
      assertThat(scan.hasTime(false)).isFalse();
      assertThat(scan.hasTime(true)).isTrue();
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(9));
      assertThat(scan.hasTime(true)).isFalse();
    }
  }
}
