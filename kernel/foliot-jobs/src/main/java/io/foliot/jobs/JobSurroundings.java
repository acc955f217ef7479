package io.foliot.jobs;

/**
 * The clocks, the timer and the random bits of {@link Jobs}. A simulation replaces them to run jobs under a virtual
 * clock. Thread-safe.
 */
public interface JobSurroundings {
  /** Returns monotonic time in nanoseconds. It may stop while the machine is suspended. */
  long nanoTime();

  /** Returns the wall clock in milliseconds since 1970. It may be wrong, and may be set at any time. */
  long wallMillis();

  /** Runs an action after a delay in milliseconds. Returns at once. */
  void after(long millis, Runnable action);

  /** Returns random bits, for ids. */
  long randomBits();
}
