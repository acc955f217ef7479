package io.foliot.load;

import java.util.Arrays;

/** Measured values, all of them kept: percentiles are exact. One thread. */
final class Samples {
  private long[] values = new long[1_024];
  private int size;
  private boolean sorted = true;

  void add(long value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, 2 * size);
    }
    values[size++] = value;
    sorted = false;
  }

  void addAll(Samples other) {
    for (int i = 0; i < other.size; i++) {
      add(other.values[i]);
    }
  }

  int size() {
    return size;
  }

  /** The smallest value that at least so many percent of all do not exceed; 0 if there are none. */
  double percentile(double percent) {
    if (size == 0) {
      return 0;
    }
    sort();
    int rank = (int) Math.ceil(percent / 100 * size);
    return (double) values[Math.max(0, Math.min(size, rank) - 1)];
  }

  double median() {
    return percentile(50);
  }

  double max() {
    return percentile(100);
  }

  double min() {
    return percentile(0);
  }

  /** How many of them differ. */
  int distinct() {
    sort();
    int distinct = 0;
    for (int i = 0; i < size; i++) {
      distinct += i == 0 || values[i] != values[i - 1] ? 1 : 0;
    }
    return distinct;
  }

  private void sort() {
    if (!sorted) {
      Arrays.sort(values, 0, size);
      sorted = true;
    }
  }
}
