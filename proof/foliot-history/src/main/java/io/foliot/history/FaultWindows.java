package io.foliot.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The times of faults, in ms: windows in ascending order that do not overlap. */
final class FaultWindows {
  /** The end of a window that was never closed. */
  static final long NEVER = Long.MAX_VALUE;

  /** The time from the beginning of a fault until its end, both inclusive. */
  record Window(long fromMillis, long toMillis) {}

  private final long[] from;
  private final long[] to;

  FaultWindows(List<Window> windows) {
    List<Window> merged = new ArrayList<>();
    for (Window window : windows.stream().sorted(Comparator.comparingLong(Window::fromMillis)).toList()) {
      int last = merged.size() - 1;
      if (last >= 0 && window.fromMillis <= merged.get(last).toMillis) {
        merged.set(last,
            new Window(merged.get(last).fromMillis, Math.max(merged.get(last).toMillis, window.toMillis)));
      } else {
        merged.add(window);
      }
    }
    from = merged.stream().mapToLong(Window::fromMillis).toArray();
    to = merged.stream().mapToLong(Window::toMillis).toArray();
  }

  boolean isEmpty() {
    return from.length == 0;
  }

  /** Returns whether a fault lasted at some instant between two bounds, both inclusive. */
  boolean touches(long fromMillis, long toMillis) {
    int window = firstEndingFrom(fromMillis);
    return window < from.length && from[window] <= toMillis;
  }

  /** Returns the end of the last window, perhaps {@link #NEVER}; {@link Long#MIN_VALUE} if there is no window. */
  long lastHealMillis() {
    return to.length == 0 ? Long.MIN_VALUE : to[to.length - 1];
  }

  /** Returns the end of the last window that ended before an instant, or {@link Long#MIN_VALUE} if there is none. */
  long lastHealBefore(long millis) {
    int window = firstEndingFrom(millis);
    return window == 0 ? Long.MIN_VALUE : to[window - 1];
  }

  /**
   * Returns the latest possible end of an action that began at the given instant.
   *
   * @param durationMillis the longest time that the action takes without a fault; after each fault it may take this
   *     time again
   */
  long overMillis(long fromMillis, long durationMillis) {
    long over = plus(fromMillis, durationMillis);
    for (int window = firstEndingFrom(fromMillis); window < from.length && from[window] <= over; window++) {
      over = plus(to[window], durationMillis);
    }
    return over;
  }

  /**
   * Returns the earliest possible beginning of an action that ended at the given instant.
   *
   * @param durationMillis the longest time that the action takes without a fault; after each fault it may take this
   *     time again
   */
  long begunMillis(long toMillis, long durationMillis) {
    long begun = toMillis - durationMillis;
    for (int window = firstBeginningAfter(toMillis) - 1; window >= 0 && to[window] >= begun; window--) {
      begun = from[window] - durationMillis;
    }
    return begun;
  }

  private static long plus(long millis, long durationMillis) {
    return millis > NEVER - durationMillis ? NEVER : millis + durationMillis;
  }

  private int firstEndingFrom(long millis) {
    int index = Arrays.binarySearch(to, millis);
    return index < 0 ? -index - 1 : index;
  }

  private int firstBeginningAfter(long millis) {
    int index = Arrays.binarySearch(from, millis);
    return index < 0 ? -index - 1 : index + 1;
  }
}
