package io.foliot.core.store;

/**
 * A due time: an instant, or a delay that starts at the time the store's clock shows when the store takes the step. A
 * delay is never added to the caller's clock.
 */
public sealed interface Due {
  /** As soon as it can be. */
  Due NOW = new After(0);

  /**
   * Returns a due time at an instant; in the past it means now.
   *
   * @param millis since 1970
   */
  static Due at(long millis) {
    return new At(millis);
  }

  /**
   * Returns a due time after a delay.
   *
   * @param millis from 0 to 100 years
   */
  static Due after(long millis) {
    return millis == 0 ? NOW : new After(millis);
  }

  /**
   * Returns the instant that is meant, in milliseconds since 1970; rounded up, so that no delay is cut short.
   *
   * @param nowMicros the store's clock
   */
  long atMillis(long nowMicros);

  /** At an instant, in milliseconds since 1970. */
  record At(long millis) implements Due {
    @Override
    public long atMillis(long nowMicros) {
      return millis;
    }
  }

  /** After a delay in milliseconds; one of 0 is due at once, not in the next millisecond. */
  record After(long delayMillis) implements Due {
    /** Microseconds in a millisecond. */
    private static final long MICROS = 1_000;

    public After {
      if (delayMillis < 0) {
        throw new IllegalArgumentException("a delay is not negative: delayMillis=" + delayMillis);
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
