package io.foliot.bench.store;

import io.foliot.core.Meter;
import java.util.concurrent.atomic.LongAdder;

/** Counts the tasks that the claims of all nodes ask for, and those won, stolen, parked and finished. Thread-safe. */
final class ClaimTally implements Meter {
  private final LongAdder asked = new LongAdder();
  private final LongAdder won = new LongAdder();
  private final LongAdder stolen = new LongAdder();
  private final LongAdder parked = new LongAdder();
  private final LongAdder finished = new LongAdder();

  @Override
  public void storeCall(String call, int items, long durationMicros, boolean failed) {
    if (call.equals("claim")) {
      asked.add(items);
    }
  }

  @Override
  public void claimed(String queue, long lateMicros) {
    won.increment();
  }

  @Override
  public void stolen(String queue) {
    stolen.increment();
  }

  @Override
  public void parked(String queue, int count) {
    parked.add(count);
  }

  /** Counts an attempt that has finished its task. Called after the end is durable. */
  @Override
  public void settled(String queue, String outcome, long durationMicros) {
    if (outcome.equals("finished")) {
      finished.increment();
    }
  }

  long finished() {
    return finished.sum();
  }

  /** Returns the number of tasks that claims have asked for. Probes are not included. */
  long asked() {
    return asked.sum();
  }

  /** Returns the tasks that claims did not win, as a percentage of the tasks asked for. */
  double lostPercent() {
    return percent(asked() - won.sum(), asked());
  }

  /**
   * Returns the stolen tasks as a percentage of the tasks won. A stolen task was overdue by at least a second, and the
   * claiming node does not own its slot.
   */
  double stolenPercent() {
    return percent(stolen.sum(), won.sum());
  }

  /** Returns how often tasks were parked, as a percentage of the tasks won. */
  double parkedPercent() {
    return percent(parked.sum(), won.sum());
  }

  private static double percent(long part, long whole) {
    return whole == 0 ? 0 : 100.0 * part / whole;
  }
}
