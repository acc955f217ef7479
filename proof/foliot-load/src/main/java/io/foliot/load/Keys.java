package io.foliot.load;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Keys that are touched again and again, in parts, each part scattered over all of them. */
final class Keys {
  /** The keys of the scenarios of touches, and those of one call. */
  static final int COUNT = 100_000;
  static final int PART = 1_000;
  private static final long SEED = 42;

  private Keys() {}

  /** The keys in parts. */
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
