package io.foliot.api;

/**
 * A due time: an instant, or a delay. A delay starts at the time of the store's clock when the store applies the call.
 * A delay is never added to the caller's clock.
 */
public sealed interface Due {
  /** The due time of a task that is due at once. */
  Due NOW = new After(0);

  /**
   * Returns a due time at an instant; an instant in the past means now.
   *
   * @param millis milliseconds since 1970
   */
  static Due at(long millis) {
    return new At(millis);
  }

  /**
   * Returns a due time after a delay.
   *
   * @param millis the delay in milliseconds, from 0 to 1,000 years
   */
  static Due after(long millis) {
    return millis == 0 ? NOW : new After(millis);
  }

  /**
   * Returns the due instant in milliseconds since 1970; the end of a delay is rounded up, so that no delay is
   * shortened.
   *
   * @param nowMicros the store's clock in microseconds since 1970
   */
  long atMillis(long nowMicros);

  /** An instant, in milliseconds since 1970. */
  record At(long millis) implements Due {
    @Override
    public long atMillis(long nowMicros) {
      return millis;
    }
  }

  /** A delay in milliseconds. A delay of 0 is due at once, not in the next millisecond. */
  record After(long delayMillis) implements Due {
    /** Microseconds in a millisecond. */
    private static final long MICROS = 1_000;
    /**
     * Longest delay: a thousand years. The longest pause of a retry is shorter. A store can add such a delay to its
     * clock in any arithmetic of 64 bits, so that no item of a batch can fail there.
     */
    public static final long MAX_MILLIS = 10 * Limits.MAX_DELAY_MILLIS;

    public After {
      if (delayMillis < 0 || delayMillis > MAX_MILLIS) {
        throw new IllegalArgumentException("a delay is from 0 to 1,000 years: delayMillis=" + delayMillis);
      }
    }

    @Override
    public long atMillis(long nowMicros) {
      return delayMillis == 0
          ? Math.floorDiv(nowMicros, MICROS)
          : Math.addExact(Math.ceilDiv(nowMicros, MICROS), delayMillis);
    }
  }
}
