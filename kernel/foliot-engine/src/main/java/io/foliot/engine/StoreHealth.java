package io.foliot.engine;

import io.foliot.core.Meter;
import org.jspecify.annotations.Nullable;

/**
 * Whether the store serves, judged by the answers that reach one loop. Passive; the loop's thread.
 *
 * <p>Guarantees: the store counts as serving only while its last answer is no failure, is younger than
 * {@link #SILENCE_NANOS}, and while the last write succeeded. The change from away to answering is reported once, to
 * the {@link Recovery}.
 *
 * <ol>
 * <li>Each answer of a call is {@linkplain #called recorded}; the first failure is logged, the following ones are not.
 * <li>Each answer of a write is {@linkplain #wrote recorded} in addition: a store may answer reads and refuse writes,
 * as a replica does. A failed write counts for {@link #UNWRITTEN_NANOS}, because a loop with nothing to write does not
 * try again.
 * <li>{@link #turn} declares a silent store away. The store's clock is read each second, so a healthy store is never
 * silent.
 * </ol>
 *
 * <p>Rejected: a health call of its own. It would say that the store answers health calls.
 */
final class StoreHealth {
  private static final System.Logger LOG = System.getLogger(StoreHealth.class.getName());
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long SECOND_NANOS = 1_000_000_000;
  /**
   * A store that has answered nothing for so long is as good as away: its clock alone is read three times meanwhile.
   */
  static final long SILENCE_NANOS = 3 * SECOND_NANOS;
  /** How long a write that failed counts: longer than the pause before the next one, if there is anything to write. */
  static final long UNWRITTEN_NANOS = 3 * SECOND_NANOS;

  /** Told when the store answers again. */
  interface Recovery {
    void storeIsBack(long nowNanos);
  }

  private final Meter meter;
  private final Recovery recovery;
  private boolean answers;
  private long answerNanos;
  private boolean writesFail;
  private long writeFailedNanos;

  /** A store that has not answered yet. */
  StoreHealth(Meter meter, Recovery recovery, long nowNanos) {
    this.meter = meter;
    this.recovery = recovery;
    answerNanos = nowNanos;
  }

  /** Records the answer of a call of several items; returns whether it is no failure. */
  boolean called(String call, int items, long sentNanos, @Nullable Throwable failure, long nowNanos) {
    meter.storeCall(call, items, (nowNanos - sentNanos) / 1_000, failure != null);
    boolean answered = failure == null;
    if (!answered && answers && !writesFail) {
      LOG.log(System.Logger.Level.WARNING, "the store does not answer; trying again: call=" + call,
          GroupCommit.unwrapped(failure));
    }
    answered(answered, nowNanos);
    return answered;
  }

  /** Records that the store answered, or did not. */
  void answered(boolean answered, long nowNanos) {
    if (answered && !answers) {
      recovery.storeIsBack(nowNanos);
    }
    answers = answered;
    answerNanos = answered ? nowNanos : answerNanos;
  }

  /** Records that a write succeeded, or failed. */
  void wrote(boolean done, long nowNanos) {
    writesFail = !done;
    writeFailedNanos = done ? writeFailedNanos : nowNanos;
  }

  /** Declares the store away if it has been silent for too long. */
  void turn(long nowNanos) {
    if (answers && nowNanos - answerNanos >= SILENCE_NANOS) {
      LOG.log(System.Logger.Level.WARNING, "the store has not answered; trying again: silentMillis={0}",
          (nowNanos - answerNanos) / NANOS_PER_MILLI);
      answered(false, nowNanos);
    }
  }

  /** Whether the store answers, and takes writes. */
  boolean isServing(long nowNanos) {
    return answers && !(writesFail && nowNanos - writeFailedNanos < UNWRITTEN_NANOS);
  }
}
