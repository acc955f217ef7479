package io.foliot.store.redis;

import io.foliot.api.Due;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.TermsByQueue;
import io.foliot.core.store.format.Bytes;

/** The terms of the store's queues. Thread-safe. */
final class Terms {
  /** Bound below which numbers are exact in the scripts. A longer maximum wait is treated as unlimited. */
  static final long EXACT = 1L << 52;

  private final TermsByQueue terms = new TermsByQueue();

  TermsByQueue byQueue() {
    return terms;
  }

  QueueTerms of(String queue) {
    return terms.of(queue);
  }

  /** Returns how far resets may move the due time past the first due time, in milliseconds; -1 for no limit. */
  long maxWait(String queue) {
    long millis = of(queue).maxWaitMillis();
    return millis >= EXACT ? -1 : millis;
  }

  /** Returns whether a script can compute exactly with a number. */
  static boolean isExact(long number) {
    return number > -EXACT && number < EXACT;
  }

  /** Returns whether a script can compute exactly with a due time, which is an instant or a delay. */
  static boolean isExact(Due due) {
    return switch (due) {
      case Due.At at -> isExact(at.millis());
      case Due.After after -> isExact(after.delayMillis());
    };
  }

  /** Appends a due time: 0 and an instant, or 1 and a delay, both in milliseconds. */
  static Bytes due(Due due, Bytes out) {
    return switch (due) {
      case Due.At at -> out.u8(0).u64(at.millis());
      case Due.After after -> out.u8(1).u64(after.delayMillis());
    };
  }
}
