package io.foliot.bench.store;

import io.foliot.core.Meter;
import java.util.concurrent.atomic.LongAdder;

/** Counts what nodes ask of their store, and what they get. Any thread. */
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

  /** Called when the store has reported that the end is durable. */
  @Override
  public void settled(String queue, String outcome, long durationMicros) {
    if (outcome.equals("finished")) {
      finished.increment();
    }
  }

  long finished() {
    return finished.sum();
  }

  /** Returns how many tasks claims have asked for; those that were only probed included. */
  long asked() {
    return asked.sum();
  }

  /** Share of the requested tasks that another node had claimed, in hundredths. */
  double lostPercent() {
    return percent(asked() - won.sum(), asked());
  }

  /** Of the tasks that were won, those that another node had left lying for a second, in hundredths. */
  double stolenPercent() {
    return percent(stolen.sum(), won.sum());
  }

  /** Of the tasks that were won, those that had been set aside in the store before, in hundredths. */
  double parkedPercent() {
    return percent(parked.sum(), won.sum());
  }

  private static double percent(long part, long whole) {
    return whole == 0 ? 0 : 100.0 * part / whole;
  }
}
