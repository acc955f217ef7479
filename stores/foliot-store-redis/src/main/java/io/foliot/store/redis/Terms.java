package io.foliot.store.redis;

import io.foliot.core.store.Due;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.format.Bytes;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What the store was told of its queues. Any thread. */
final class Terms {
  /** Above this a script's numbers are not exact; such a span ends never. */
  static final long EXACT = 1L << 52;

  private final Map<String, QueueTerms> terms = new ConcurrentHashMap<>();

  void configure(String queue, QueueTerms queueTerms) {
    terms.put(queue, queueTerms);
  }

  QueueTerms of(String queue) {
    return terms.getOrDefault(queue, QueueTerms.DEFAULT);
  }

  /** How far resets may push, or -1 for as far as they like. */
  long maxWait(String queue) {
    long millis = of(queue).maxWaitMillis();
    return millis >= EXACT ? -1 : millis;
  }

  /** Whether a script can reckon with a number. */
  static boolean isExact(long number) {
    return number > -EXACT && number < EXACT;
  }

  /** Whether a script can reckon with an instant. */
  static boolean isExact(Due due) {
    return switch (due) {
      case Due.At at -> isExact(at.millis());
      case Due.After after -> isExact(after.delayMillis());
    };
  }

  /** Kind and value. */
  static Bytes due(Due due, Bytes out) {
    return switch (due) {
      case Due.At at -> out.u8(0).u64(at.millis());
      case Due.After after -> out.u8(1).u64(after.delayMillis());
    };
  }
}
