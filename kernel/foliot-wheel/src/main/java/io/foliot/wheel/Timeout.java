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
   * Cancels it.
   *
   * @return true if it will never fire thanks to this call; false if it has fired or was cancelled before
   */
  boolean cancel();

  /**
   * Makes it fire this long from now instead. Pushing it back costs one compare-and-set, however often it comes. Among
   * timers with the same deadline, one that was reset has no particular place.
   *
   * @param delay as for {@link WheelTimer#schedule(Runnable, long, TimeUnit)}
   * @return true if it will fire at the new deadline and not before; false if it has fired or was cancelled before
   */
  boolean reset(long delay, TimeUnit unit);

  /** As {@link #reset(long, TimeUnit)}. */
  boolean reset(Duration delay);

  /** Returns whether it waits. */
  boolean isPending();

  /** Returns whether it has fired: its callback was run, or given to the executor. */
  boolean hasFired();

  /** Returns whether it was cancelled, by {@link #cancel} or by {@link WheelTimer#stop}. */
  boolean isCancelled();

  /** Returns its callback; null after a {@link #cancel} that returned true, so that it keeps nothing alive. */
  @Nullable
  Runnable task();
}
