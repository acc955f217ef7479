package io.foliot.engine;

/**
 * The store's clock as this node computes it: the best {@link ClockReading} so far, continued by the monotonic clock.
 * Passive: a method that needs the time of this node takes it as a parameter.
 *
 * <ol>
 * <li>A {@link Question} records both clocks of this node before the store's clock is read.
 * <li>The answer becomes a reading. For a store behind a network, the middle of the call is taken as the instant of the
 * reading, and the better of the old and the new reading is kept. For a store in this process, the beginning of the
 * call is taken as the instant, and the new reading is kept. The computed time of such a store is never behind its
 * clock; if it were behind, tasks would be late.
 * <li>The next question is due a second after the middle of the call, or ten milliseconds for a store in this process.
 * </ol>
 *
 * <p>Rejected: this node's wall clock. Its error would make tasks late, or cause claims of tasks that are not due. A
 * step back would stop the wheel.
 */
final class StoreClock {
  private static final long SECOND_NANOS = 1_000_000_000;
  private static final long IN_PROCESS_NANOS = 10_000_000;
  private static final long UNKNOWN_NANOS = Long.MAX_VALUE / 4;

  /** This node's clocks when a read of the store's clock began. */
  record Question(long wallMicros, long nanos) {}

  // written by the thread that completes a read, read by any
  private volatile ClockReading reading;

  // the loop's thread
  private long nextNanos;

  /** Creates a clock that shows this node's wall time until the first reading, which is always better. */
  StoreClock(long wallMicros, long nowNanos) {
    reading = new ClockReading(wallMicros, nowNanos, UNKNOWN_NANOS, 0);
    nextNanos = nowNanos;
  }

  // any thread

  long micros(long nowNanos) {
    return reading.micros(nowNanos);
  }

  long millis(long nowNanos) {
    return Math.floorDiv(micros(nowNanos), 1_000);
  }

  /**
   * Returns whether an instant is past by the store's clock, even with the largest possible error of the reading.
   *
   * @param millis the instant, in milliseconds since 1970
   */
  boolean isSurelyPast(long millis, long nowNanos) {
    return millis <= earliestMillis(nowNanos);
  }

  /** Returns the earliest time that the store's clock may show, in milliseconds since 1970. */
  long earliestMillis(long nowNanos) {
    return Math.floorDiv(reading.earliestMicros(nowNanos), 1_000);
  }

  /** Returns by how many microseconds the store's clock is ahead of this node's wall clock; negative if behind. */
  long offsetMicros() {
    return reading.offsetMicros();
  }

  /** Takes an answer of the store. */
  void answered(Question question, long storeMicros, boolean isInProcess, long nowNanos) {
    long halfNanos = (nowNanos - question.nanos()) / 2;
    long offsetMicros = storeMicros - question.wallMicros() - halfNanos / 1_000;
    reading = isInProcess
        ? new ClockReading(storeMicros, question.nanos(), 0, offsetMicros)
        : reading.or(new ClockReading(storeMicros, question.nanos() + halfNanos, halfNanos, offsetMicros));
  }

  // the loop's thread

  /**
   * Returns whether the store's clock is to be read now. After this method has returned true, it returns false for a
   * second, unless {@link #planNext} sets another time.
   */
  boolean isDue(long nowNanos) {
    if (nowNanos - nextNanos < 0) {
      return false;
    }
    nextNanos = nowNanos + SECOND_NANOS;
    return true;
  }

  /** Plans the next question after this one was answered or failed. */
  void planNext(Question question, boolean isInProcess, long answeredNanos) {
    nextNanos = question.nanos() + (answeredNanos - question.nanos()) / 2
        + (isInProcess ? IN_PROCESS_NANOS : SECOND_NANOS);
  }
}
