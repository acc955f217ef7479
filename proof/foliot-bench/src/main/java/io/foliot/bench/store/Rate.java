package io.foliot.bench.store;

/** The number of items that were done, and the time that they took. */
record Rate(long count, long nanos) {
  Rate {
    if (count < 1 || nanos < 1) {
      throw new IllegalStateException("a round does something and takes time: count=" + count + ", nanos=" + nanos);
    }
  }

  double perSecond() {
    return count * 1e9 / nanos;
  }
}
