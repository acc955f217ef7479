package io.foliot.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Operations in order of one time, to find, from an instant on, the one that is first by another time. */
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

  /** For the first answer among the operations invoked from an instant on. */
  static OperationIndex byInvocation(List<Operation> operations) {
    return new OperationIndex(operations, Operation::invokedMillis, Operation::answeredMillis);
  }

  /** For the first invocation among the operations that may have taken effect from an instant on. */
  static OperationIndex byEffect(List<Operation> operations) {
    return new OperationIndex(operations, Operation::latestMillis, Operation::invokedMillis);
  }

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
