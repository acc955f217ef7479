package io.foliot.engine;

import io.foliot.core.Meter;
import org.jspecify.annotations.Nullable;

/**
 * The health of the store, judged by the answers that reach one loop. Passive; confined to the loop's thread.
 *
 * <p>Guarantees: the store is regarded as serving only while its latest answer is a success and younger than {@link
 * #SILENCE_NANOS}. After a failed write, the store is not regarded as serving for {@link #UNWRITTEN_NANOS}, or until a
 * write succeeds. The change from unavailable to answering is reported once, to the {@link Recovery}.
 *
 * <ol>
 * <li>Each answer of a call is {@linkplain #answered recorded}; the first failure after a success begins a {@link
 * StoreOutage}.
 * <li>The success or {@linkplain #writeFailed failure} of each write is recorded as well, because a store may answer
 * reads and refuse writes, as a replica does. A failed write is forgotten after {@link #UNWRITTEN_NANOS}: a loop that
 * has nothing to write gets no success that would end the effect.
 * <li>{@link #turn} declares a silent store unavailable, and ends the outage once the store serves. The store's clock
 * is read about once a second or more often, so a healthy store is never silent. Time in which the loop did not turn is
 * not silence: the loop asked nothing.
 * </ol>
 *
 * <p>Rejected: a health call of its own. It would only show that the store answers health calls.
 */
final class StoreHealth {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long SECOND_NANOS = 1_000_000_000;
  /**
   * Longest time without an answer before a store is declared unavailable. In this time the clock of a healthy store is
   * read about three times, or more often if the store is in this process.
   */
  static final long SILENCE_NANOS = 3 * SECOND_NANOS;
  /**
   * Time that a store is not regarded as serving after a failed write. It is longer than {@link Backoff#LAST_NANOS},
   * the longest pause of retries.
   */
  static final long UNWRITTEN_NANOS = 3 * SECOND_NANOS;

  /** The health of the store. */
  enum State {
    /** The store answers and accepts writes. */
    SERVING,
    /** The store answers, and has no room for a write that this node must make. */
    FULL,
    /** The store does not answer, or refuses writes. */
    AWAY
  }

  /** Called when the store answers again. */
  interface Recovery {
    void storeIsBack(long nowNanos);
  }

  private final Meter meter;
  private final Recovery recovery;
  private final StoreOutage outage;
  private boolean inOutage;
  private boolean answers;
  /** Whether the outage knows that this loop gets no answers. It does not before the first answer of the store. */
  private boolean isReported;
  /** Time of the latest success, or later by the time during which the loop did not turn. */
  private long answerNanos;
  private long turnedNanos;
  private boolean writesFail;
  /** Whether the failed write found no room. */
  private boolean lacksRoom;
  private long writeFailedNanos;

  /** Creates the health of a store that has not answered yet. */
  StoreHealth(Meter meter, Recovery recovery, StoreOutage outage, long nowNanos) {
    this.meter = meter;
    this.recovery = recovery;
    this.outage = outage;
    answerNanos = nowNanos;
    turnedNanos = nowNanos;
  }

  /** Records the answer of a call of several items; returns whether it is a success. */
  boolean called(String call, int items, long sentNanos, @Nullable Throwable failure, long nowNanos) {
    meter.storeCall(call, items, (nowNanos - sentNanos) / 1_000, failure != null);
    // A store without room answers, and its reads and most of its writes succeed.
    answered(call, RoomGate.isFull(failure) ? null : failure, nowNanos);
    return failure == null;
  }

  /** Records the answer of a call that the meter does not count; the failure is null after a success. */
  void answered(String call, @Nullable Throwable failure, long nowNanos) {
    if (failure != null && answers) {
      began("call=" + call, failure, nowNanos);
    }
    answered(failure == null, nowNanos);
  }

  private void answered(boolean answered, long nowNanos) {
    if (answered && !answers) {
      recovery.storeIsBack(nowNanos);
      if (isReported) {
        isReported = false;
        outage.answered();
      }
    } else if (!answered && answers) {
      isReported = true;
      outage.unanswered(nowNanos);
    }
    answers = answered;
    answerNanos = answered ? nowNanos : answerNanos;
  }

  /** Records that a write succeeded. */
  void wrote() {
    writesFail = false;
  }

  /** Records that a write failed. */
  void writeFailed(boolean foundNoRoom, long nowNanos) {
    writesFail = true;
    lacksRoom = foundNoRoom;
    writeFailedNanos = nowNanos;
  }

  /** Declares the store unavailable if it has been silent for too long. */
  void turn(long nowNanos) {
    if (nowNanos - turnedNanos > SECOND_NANOS) {
      answerNanos = Math.min(answerNanos + (nowNanos - turnedNanos), nowNanos);
    }
    turnedNanos = nowNanos;
    if (answers && nowNanos - answerNanos >= SILENCE_NANOS) {
      began("silentMillis=" + (nowNanos - answerNanos) / NANOS_PER_MILLI, null, nowNanos);
      answered(false, nowNanos);
    }
    if (inOutage && isServing(nowNanos)) {
      inOutage = false;
      outage.ended(nowNanos);
    }
  }

  private void began(String reason, @Nullable Throwable failure, long nowNanos) {
    if (!inOutage) {
      inOutage = true;
      outage.began(reason, failure, nowNanos);
    }
  }

  /** Returns whether the store answers and accepts writes. */
  boolean isServing(long nowNanos) {
    return state(nowNanos) == State.SERVING;
  }

  State state(long nowNanos) {
    if (!answers) {
      return State.AWAY;
    }
    if (!writesFail || nowNanos - writeFailedNanos >= UNWRITTEN_NANOS) {
      return State.SERVING;
    }
    return lacksRoom ? State.FULL : State.AWAY;
  }
}
