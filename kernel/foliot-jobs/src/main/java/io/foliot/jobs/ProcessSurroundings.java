package io.foliot.jobs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The clocks, the timer and the random bits of the process. */
final class ProcessSurroundings implements JobSurroundings {
  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public void after(long millis, Runnable action) {
    CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(action);
  }

  @Override
  public long randomBits() {
    return ThreadLocalRandom.current().nextLong();
  }
}
