package io.foliot.client;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Converts the answer of a call.
 *
 * @param done reads the body of a 2xx answer
 * @param unknownTask reads the answer that there is no such task; null if that is a refusal like any other
 */
record Reading<T>(Function<byte[], T> done, @Nullable T unknownTask) {
  /** For an answer that says no more than its status. */
  static final Reading<Void> NOTHING = of(ignored -> null);

  static <T> Reading<T> of(Function<byte[], T> done) {
    return new Reading<>(done, null);
  }
}
