package io.foliot.engine;

import io.foliot.core.Meter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Counts consecutive equal results, so that the meter is called once and not ten thousand times. Not thread-safe.
 */
final class OutcomeCounter {
  private final Meter meter;
  private final String prefix;
  private String queue = "";
  private @Nullable Enum<?> kind;
  private int count;

  OutcomeCounter(Meter meter, String prefix) {
    this.meter = meter;
    this.prefix = prefix;
  }

  void add(String newQueue, Enum<?> newKind) {
    if (newKind != kind || !newQueue.equals(queue)) {
      report();
      queue = newQueue;
      kind = newKind;
    }
    count++;
  }

  /** Reports the current count, unless it is 0, and begins a new count. */
  void report() {
    if (count > 0 && kind != null && !queue.isEmpty()) {
      meter.accepted(queue, prefix + kind.name().toLowerCase(Locale.ROOT), count);
    }
    count = 0;
  }
}
