package io.foliot.engine;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The end of a loop's work: the loop continues to claim for some time, then stops claiming and waits for the attempts
 * under way. Passive; confined to the loop's thread.
 *
 * <p>Guarantees: the future passed to {@link #begin} completes with true when the loop is idle, and with false when the
 * time to wait is over. The future does not complete while the loop still claims. If the loop dies, {@link EngineLoop}
 * completes the future with false.
 */
final class Drain {
  private @Nullable CompletableFuture<Boolean> answer;
  private long claimUntilNanos;
  private long patienceEndNanos;
  private boolean isClaiming = true;

  /**
   * Begins to drain.
   *
   * @param afterNanos how long to continue to claim
   * @param patienceNanos how long to wait in total; if {@code afterNanos} is longer, that time is used instead
   */
  void begin(CompletableFuture<Boolean> newAnswer, long afterNanos, long patienceNanos, long nowNanos) {
    answer = newAnswer;
    claimUntilNanos = nowNanos + afterNanos;
    patienceEndNanos = nowNanos + Math.max(afterNanos, patienceNanos);
  }

  /** Returns whether claims may be made at this time. After it has returned false once, it always returns false. */
  boolean isClaiming(long nowNanos) {
    isClaiming &= answer == null || nowNanos - claimUntilNanos < 0;
    return isClaiming;
  }

  /** Returns the latest result of {@link #isClaiming(long)}; true before its first call. */
  boolean isClaiming() {
    return isClaiming;
  }

  /** Completes the answer once claiming has stopped, if nothing is under way or the time to wait is over. */
  void turn(BooleanSupplier isIdle, long nowNanos) {
    if (answer != null && !isClaiming) {
      boolean isDone = isIdle.getAsBoolean();
      if (isDone || nowNanos - patienceEndNanos >= 0) {
        answer.complete(isDone);
      }
    }
  }
}
