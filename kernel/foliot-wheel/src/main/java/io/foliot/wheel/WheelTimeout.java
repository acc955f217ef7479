package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A node with a callback: 32 bytes with compressed references. */
final class WheelTimeout extends WheelNode implements Timeout {
  private final WheelTimer timer;

  /**
   * Callback of the timer. It is null once a caller has cancelled the timer: an entry that is still in the wheel then
   * does not retain the callback.
   */
  private @Nullable Runnable task;

  WheelTimeout(WheelTimer timer, Runnable task, long deadlineNanos) {
    super(deadlineNanos);
    this.timer = timer;
    this.task = requireNonNull(task, "task");
  }

  @Override
  int preload() {
    // expire() will need the object header of the callback. The instanceof test brings it into the processor cache.
    Object runnable = task;
    return runnable instanceof WheelTimeout ? 1 : 0;
  }

  @Override
  void expire() {
    Runnable runnable = task;
    assert runnable != null : "a cancelled timer has fired";
    timer.execute(runnable);
  }

  @Override
  public boolean cancel() {
    boolean cancels = timer.driver().cancel(this);
    if (cancels) {
      task = null;
    }
    return cancels;
  }

  @Override
  public boolean reset(long delay, TimeUnit unit) {
    WheelDriver driver = timer.driver();
    return driver.reset(this, driver.deadlineNanos(unit.toNanos(delay)));
  }

  @Override
  public boolean reset(Duration delay) {
    return reset(WheelTimer.saturatedNanos(delay), TimeUnit.NANOSECONDS);
  }

  @Override
  public boolean isPending() {
    return isArmed(word());
  }

  @Override
  public boolean hasFired() {
    return (word() & ~QUEUED) == FIRED;
  }

  @Override
  public boolean isCancelled() {
    return (word() & ~QUEUED) == CANCELLED;
  }

  @Override
  public @Nullable Runnable task() {
    return task;
  }

  @Override
  public String toString() {
    String state = isPending() ? "pending" : hasFired() ? "fired" : "cancelled";
    return "Timeout[" + state + ", task=" + task + "]";
  }
}
