package io.foliot.wheel;

/**
 * The counts of a timer so far. They are exact when no call is under way and the driver rests; otherwise each is
 * right for some moment during the call that read them.
 *
 * @param scheduled timers taken on
 * @param fired timers whose callback was run or given to the executor, failed or not
 * @param cancelled timers cancelled before they fired, those that {@code stop} returned among them
 * @param failed callbacks that threw on the driver thread, or that the executor refused
 * @param wakeUps how often the driver thread has come out of a wait
 * @param longestTurnNanos the longest time that the driver took between two reads of the clock, inline callbacks
 *     included
 * @param lateness how late timers fired
 */
public record TimerCounters(
    long scheduled,
    long fired,
    long cancelled,
    long failed,
    long wakeUps,
    long longestTurnNanos,
    Lateness lateness) {
  /** Returns the number of timers that wait. */
  public long live() {
    return scheduled - fired - cancelled;
  }

  /**
   * The distribution of the time from a timer's deadline to its firing. Each figure is at most an eighth too high, and
   * too low by no more than fifteen inline callbacks took, because the clock is not read for every firing.
   */
  public static final class Lateness {
    private final long[] counts;

    Lateness(long[] counts) {
      this.counts = counts;
    }

    /** Returns the number of recorded firings. */
    public long count() {
      long count = 0;
      for (long bucket : counts) {
        count += bucket;
      }
      return count;
    }

    /**
     * Returns the lateness, in nanoseconds, that this share of firings did not exceed; 0 if there were no firings.
     *
     * @param percentile from 0 to 100
     * @throws IllegalArgumentException if it is not in this range
     */
    public long nanosAt(double percentile) {
      if (!(percentile >= 0 && percentile <= 100)) {
        throw new IllegalArgumentException("a percentile lies between 0 and 100: percentile=" + percentile);
      }
      long count = count();
      long rank = Math.max(1, (long) Math.ceil(count * percentile / 100));
      long seen = 0;
      for (int bucket = 0; bucket < counts.length && count > 0; bucket++) {
        seen += counts[bucket];
        if (seen >= rank) {
          return LatenessHistogram.upperBoundNanos(bucket);
        }
      }
      return 0;
    }

    @Override
    public String toString() {
      return "Lateness[count=" + count() + ", p50=" + nanosAt(50) + "ns, p99=" + nanosAt(99) + "ns, max="
          + nanosAt(100) + "ns]";
    }
  }
}
