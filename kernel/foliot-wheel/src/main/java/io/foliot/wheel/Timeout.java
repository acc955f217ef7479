package io.foliot.wheel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A timer that a {@link WheelTimer} has taken on. Safe for use by any thread. It ends once: it fires or it is
 * cancelled, and whichever of {@link #cancel}, {@link #reset} and the firing comes first decides for the others.
 */
public sealed interface Timeout permits WheelTimeout {
  /**
   * Cancels this timer.
   *
   * @return true if this call ensures that the timer never fires; false if it has fired or was cancelled before
   */
  boolean cancel();

  /**
   * Makes this timer fire after this delay from now instead. Each reset to a later time costs one compare-and-set.
   * Among timers with the same deadline, a timer that was reset has no defined place.
   *
   * @param delay as for {@link WheelTimer#schedule(Runnable, long, TimeUnit)}
   * @return true if the timer will fire at the new deadline and not before; false if it has fired or was cancelled
   *     before
   */
  boolean reset(long delay, TimeUnit unit);

  /** As {@link #reset(long, TimeUnit)}. */
  boolean reset(Duration delay);

  /** Returns whether it still waits for its deadline. */
  boolean isPending();

  /** Returns whether it has fired: its callback was run, or given to the executor. */
  boolean hasFired();

  /** Returns whether it was cancelled, by {@link #cancel} or by {@link WheelTimer#stop}. */
  boolean isCancelled();

  /** Returns its callback; null after a {@link #cancel} that returned true, so that it keeps nothing alive. */
  @Nullable
  Runnable task();
}
