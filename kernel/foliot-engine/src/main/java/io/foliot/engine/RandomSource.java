package io.foliot.engine;

import java.util.random.RandomGenerator;

/** The only source of randomness of an engine. Thread-safe. */
final class RandomSource {
  // guarded by this
  private final RandomGenerator random;

  RandomSource(RandomGenerator random) {
    this.random = random;
  }

  synchronized long next() {
    return random.nextLong();
  }

  /** Returns several numbers at once, because the lock costs as much as several draws. */
  synchronized long[] next(int count) {
    long[] bits = new long[count];
    for (int i = 0; i < count; i++) {
      bits[i] = random.nextLong();
    }
    return bits;
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  synchronized double nextDouble() {
    return random.nextDouble();
  }
}
