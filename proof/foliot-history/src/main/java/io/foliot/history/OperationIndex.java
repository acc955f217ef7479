package io.foliot.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * An index of operations by two of their times: a search time and a ranking time. A search takes an instant. Of the
 * operations with a search time at or after this instant, it returns the one with the earliest ranking time.
 */
final class OperationIndex {
  private final long[] times;
  private final List<Operation> firsts;

  private OperationIndex(List<Operation> operations, ToLongFunction<Operation> time, ToLongFunction<Operation> other) {
    List<Operation> sorted = new ArrayList<>(operations);
    sorted.sort(Comparator.comparingLong(time));
    times = sorted.stream().mapToLong(time).toArray();
    for (int i = sorted.size() - 2; i >= 0; i--) {
      if (other.applyAsLong(sorted.get(i + 1)) < other.applyAsLong(sorted.get(i))) {
        sorted.set(i, sorted.get(i + 1));
      }
    }
    firsts = sorted;
  }

  /** Returns an index that finds, of the operations invoked at or after an instant, the one answered first. */
  static OperationIndex byInvocation(List<Operation> operations) {
    return new OperationIndex(operations, Operation::invokedMillis, Operation::answeredMillis);
  }

  /**
   * Returns an index that finds, of the operations that may take effect at or after an instant, the one invoked first.
   */
  static OperationIndex byEffect(List<Operation> operations) {
    return new OperationIndex(operations, Operation::latestMillis, Operation::invokedMillis);
  }

  /** Returns the operation that this index finds for an instant, or null if there is none. */
  @Nullable
  Operation firstFrom(long millis) {
    int low = 0;
    int high = times.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (times[middle] < millis) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low == times.length ? null : firsts.get(low);
  }
}
