package io.foliot.wheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/** Compares the sorter with the library's sort. */
final class KeySorterTest {
  private static final int[] COUNTS = {1, 2, 3, 64, 65, 1000, 4200, 20_000};

  private final KeySorter sorter = new KeySorter();

  /** Sorts keys that a function makes of their indexes, for several numbers of keys. */
  private void sortsKeys(LongUnaryOperator key) {
    for (int count : COUNTS) {
      long[] keys = new long[count + 3];
      Arrays.setAll(keys, index -> key.applyAsLong(index) << 24 | index);
      long[] expected = Arrays.copyOf(keys, count);
      Arrays.sort(expected);
      long[] sorted = sorter.sort(keys, count, expected[0], expected[count - 1]);
      assertThat(sorted).hasSizeGreaterThanOrEqualTo(keys.length);
      assertThat(Arrays.copyOf(sorted, count)).isEqualTo(expected);
    }
  }

  @Test
  void evenlySpreadKeysAreSorted() {
    Random random = new Random(1);
    sortsKeys(index -> random.nextLong(1L << 22));
  }

  @Test
  void equalDeadlinesKeepTheirOrder() {
    sortsKeys(index -> 7);
  }

  @Test
  void keysInOneBucketAreSorted() {
    // One key is far from all others, which descend.
    sortsKeys(index -> index == 0 ? (1L << 39) - 1 : -index);
  }

  @Test
  void keysOfTheWholeRangeAreSorted() {
    Random random = new Random(2);
    sortsKeys(index -> random.nextLong(-(1L << 39), 1L << 39));
  }
}
