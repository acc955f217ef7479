package io.foliot.wheel;

/**
 * The counts of a timer since its creation. They are exact if no call is in progress and the driver is idle. Otherwise
 * each count except {@code scheduled} was exact at some moment during the call that read the counts. Concurrent resets
 * to an earlier deadline may make {@code scheduled} too low.
 *
 * @param scheduled number of accepted timers
 * @param fired number of timers whose callback was run or given to the executor, with success or not
 * @param cancelled number of timers cancelled before they fired, including those that {@code stop} returned
 * @param failed number of callbacks that threw on the driver thread, or that the executor refused
 * @param wakeUps number of waits of the driver thread that have ended
 * @param longestTurnNanos duration of the longest turn of the driver, in nanoseconds. A turn takes new timers, fires
 *     due timers, and runs inline callbacks
 * @param lateness distribution of the lateness of firings
 */
public record TimerCounters(
    long scheduled,
    long fired,
    long cancelled,
    long failed,
    long wakeUps,
    long longestTurnNanos,
    Lateness lateness) {
  /** Returns the number of timers that have neither fired nor been cancelled. */
  public long live() {
    return scheduled - fired - cancelled;
  }

  /**
   * The distribution of the time from a timer's deadline to its firing. Each figure is at most an eighth too high. Each
   * may be too low by the duration of up to fifteen inline callbacks, because the clock is not read for every firing.
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
     * Returns a lateness in nanoseconds: the given percentage of firings were at most this late. Returns 0 if no timer
     * has fired.
     *
     * @param percentile from 0 to 100, both inclusive
     * @throws IllegalArgumentException if {@code percentile} is out of this range
     */
    public long nanosAt(double percentile) {
      if (!(percentile >= 0 && percentile <= 100)) {
        throw new IllegalArgumentException("percentile must be between 0 and 100: percentile=" + percentile);
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
