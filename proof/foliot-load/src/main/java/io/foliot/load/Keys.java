package io.foliot.load;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * The keys of the touch scenarios, in parts. The order is random, but the same in each run. One call touches a part.
 */
final class Keys {
  /** Number of keys, unless the plan sets one. */
  static final int COUNT = 100_000;
  /** Number of keys in a part. */
  static final int PART = 1_000;
  private static final long SEED = 42;

  private Keys() {}

  /** Returns {@code count} keys in parts; the last part may be smaller. */
  static List<List<String>> parts(int count) {
    List<String> keys = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      keys.add(String.format("order-%08d", i));
    }
    Collections.shuffle(keys, new Random(SEED));
    List<List<String>> parts = new ArrayList<>();
    for (int from = 0; from < count; from += PART) {
      parts.add(List.copyOf(keys.subList(from, Math.min(count, from + PART))));
    }
    return parts;
  }
}
