package io.foliot.jobs;

/**
 * The clock, the timer and the random bits of {@link Jobs}. A simulation replaces them to run jobs under a virtual
 * clock. Any thread.
 */
public interface JobSurroundings {
  /** Returns monotonic time in nanoseconds. */
  long nanoTime();

  /** Runs an action after a delay in milliseconds; does not wait for it. */
  void after(long millis, Runnable action);

  /** Returns random bits, for ids. */
  long randomBits();
}
