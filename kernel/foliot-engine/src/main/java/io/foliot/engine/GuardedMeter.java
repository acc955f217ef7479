package io.foliot.engine;

import io.foliot.core.Meter;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Calls the meter of an application or a server. A meter must not throw, but it is foreign code in the middle of the
 * engine's steps: a failure of it must not change what happens to a task or to a caller. The first failure is logged.
 */
final class GuardedMeter implements Meter {
  private static final System.Logger LOG = System.getLogger(GuardedMeter.class.getName());

  private final Meter meter;
  private final AtomicBoolean hasFailed = new AtomicBoolean();

  private GuardedMeter(Meter meter) {
    this.meter = meter;
  }

  static Meter of(Meter meter) {
    return meter instanceof GuardedMeter || meter == NONE ? meter : new GuardedMeter(meter);
  }

  /** Logs the first failure. Rethrows an error of the virtual machine, as {@link ItemGuard} does. */
  private void failed(Throwable failure) {
    if (failure instanceof VirtualMachineError error && !(error instanceof StackOverflowError)) {
      throw error;
    }
    if (hasFailed.compareAndSet(false, true)) {
      LOG.log(System.Logger.Level.ERROR,
          "the meter failed, so its counts are too low; the engine goes on, and does not log later failures", failure);
    }
  }

  @Override
  public void accepted(String queue, String what, int count) {
    try {
      meter.accepted(queue, what, count);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void claimed(String queue, long lateMicros) {
    try {
      meter.claimed(queue, lateMicros);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void deadLetter(String queue, Supplier<String> task) {
    try {
      meter.deadLetter(queue, task);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void settled(String queue, String outcome, long durationMicros) {
    try {
      meter.settled(queue, outcome, durationMicros);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void leaseEnded(String queue) {
    try {
      meter.leaseEnded(queue);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void foreign(String queue) {
    try {
      meter.foreign(queue);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void storeCall(String call, int items, long durationMicros, boolean failed) {
    try {
      meter.storeCall(call, items, durationMicros, failed);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void parked(String queue, int count) {
    try {
      meter.parked(queue, count);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void unserved(String queue, int count) {
    try {
      meter.unserved(queue, count);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void slotsChanged(int gained, int lost) {
    try {
      meter.slotsChanged(gained, lost);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void stolen(String queue) {
    try {
      meter.stolen(queue);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void foundLate(String queue) {
    try {
      meter.foundLate(queue);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void loopTurn(long durationMicros) {
    try {
      meter.loopTurn(durationMicros);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void quarantined(String queue) {
    try {
      meter.quarantined(queue);
    } catch (Throwable e) {
      failed(e);
    }
  }
}
