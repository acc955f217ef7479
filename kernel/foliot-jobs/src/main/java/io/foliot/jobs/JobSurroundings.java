package io.foliot.jobs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** What {@link Jobs} see of the world beside the store. With another one they run under a virtual clock. Any thread. */
public interface JobSurroundings {
  /** Returns monotonic time in nanoseconds. */
  long nanoTime();

  /** Runs an action once so many milliseconds have passed; does not wait for it. */
  void after(long millis, Runnable action);

  /** Returns random bits, for ids. */
  long randomBits();

  /** Those of a process. */
  final class OfProcess implements JobSurroundings {
    @Override
    public long nanoTime() {
      return System.nanoTime();
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
}
