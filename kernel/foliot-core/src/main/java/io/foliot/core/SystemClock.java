package io.foliot.core;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** The clocks of the machine. */
public final class SystemClock implements TimeSource {
  @Override
  public long wallMicros() {
    Instant now = Instant.now();
    return TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + TimeUnit.NANOSECONDS.toMicros(now.getNano());
  }

  @Override
  public long monotonicNanos() {
    return System.nanoTime();
  }
}
