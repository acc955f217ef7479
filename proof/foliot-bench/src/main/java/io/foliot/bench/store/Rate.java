package io.foliot.bench.store;

/** The number of items that a round has done, and its duration. */
record Rate(long count, long nanos) {
  Rate {
    if (count < 1 || nanos < 1) {
      throw new IllegalStateException("a round must do something and take time: count=" + count + ", nanos=" + nanos);
    }
  }

  double perSecond() {
    return count * 1e9 / nanos;
  }
}
