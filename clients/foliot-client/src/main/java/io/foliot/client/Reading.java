package io.foliot.client;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Converts the answer of a call.
 *
 * @param done reads the body of a 2xx answer
 * @param unknownTask the result of the call if its task does not exist; null if the call then fails with a
 *     {@link FoliotException}
 */
record Reading<T>(Function<byte[], T> done, @Nullable T unknownTask) {
  /** A conversion that ignores the body of the answer. */
  static final Reading<Void> NOTHING = of(ignored -> null);

  static <T> Reading<T> of(Function<byte[], T> done) {
    return new Reading<>(done, null);
  }
}
