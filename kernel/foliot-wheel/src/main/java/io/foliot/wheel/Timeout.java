package io.foliot.wheel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A timer that a {@link WheelTimer} has accepted. Any thread may use it. A timer ends exactly once: it either fires or
 * is cancelled. Concurrent calls of {@link #cancel} and {@link #reset}, and the firing, take effect one after another.
 */
public sealed interface Timeout permits WheelTimeout {
  /**
   * Cancels this timer.
   *
   * @return true if this call ensures that the timer never fires; false if the timer had fired or been cancelled before
   */
  boolean cancel();

  /**
   * Moves the deadline of this timer to the given delay from now. A reset to a later deadline costs one
   * compare-and-set. Among timers with the same deadline, the order of a timer that was reset is unspecified.
   *
   * @param delay as for {@link WheelTimer#schedule(Runnable, long, TimeUnit)}
   * @return true if the timer will not fire before the new deadline; false if the timer had fired or been cancelled
   *     before
   */
  boolean reset(long delay, TimeUnit unit);

  /** As {@link #reset(long, TimeUnit)}. */
  boolean reset(Duration delay);

  /** Returns whether this timer has neither fired nor been cancelled. */
  boolean isPending();

  /** Returns whether this timer has fired, that is, whether its callback was run or given to the executor. */
  boolean hasFired();

  /** Returns whether this timer was cancelled, by {@link #cancel} or by {@link WheelTimer#stop}. */
  boolean isCancelled();

  /**
   * Returns the callback of this timer. Returns null after a {@link #cancel} that returned true, so that a cancelled
   * timer retains no objects.
   */
  @Nullable
  Runnable task();
}
