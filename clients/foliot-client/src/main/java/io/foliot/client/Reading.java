package io.foliot.client;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Converts the answer of a call.
 *
 * @param done reads the body of a 2xx answer
 * @param unknownTask the result of a call whose task does not exist; null if the call then fails, as if refused
 */
record Reading<T>(Function<byte[], T> done, @Nullable T unknownTask) {
  /** The conversion of an answer of which only the status is read. */
  static final Reading<Void> NOTHING = of(ignored -> null);

  static <T> Reading<T> of(Function<byte[], T> done) {
    return new Reading<>(done, null);
  }
}
