package io.foliot.server;

import java.time.Duration;

/**
 * The time for which a connection has waited for its client in the current phase. Written by the thread of the
 * connection, read by any thread.
 */
final class ClientWait {
  /**
   * Longest wait for a body that is paid for by nothing. Each byte pays for a further wait, but at most this wait is
   * saved up. A client that sends at a lower rate than {@link #BODY_BYTES_PER_SECOND}, or stops, is thus soon refused.
   */
  private static final Duration BODY_CREDIT = Duration.ofSeconds(10);
  /** Lowest rate of a body in the long run, in bytes. */
  private static final long BODY_BYTES_PER_SECOND = 10 << 10;
  private static final long NANOS_PER_BYTE = Duration.ofSeconds(1).toNanos() / BODY_BYTES_PER_SECOND;

  private final long timeoutNanos;
  private final long headNanos;
  private long earlierNanos;
  private boolean idle = true;
  private boolean inBody;
  private volatile long limitNanos;
  private volatile long originNanos;
  private volatile boolean waits;

  ClientWait(Duration timeout, Duration head) {
    timeoutNanos = timeout.toNanos();
    headNanos = head.toNanos();
    limitNanos = headNanos;
  }

  /** Begins the phase of a request, whose head has arrived. */
  void begin() {
    earlierNanos = 0;
    idle = false;
    inBody = true;
    limitNanos = Math.min(timeoutNanos, BODY_CREDIT.toNanos());
  }

  /** Adds the credit for bytes that have arrived in time. */
  void received(int bytes) {
    if (inBody) {
      long paidNanos = limitNanos + bytes * NANOS_PER_BYTE;
      limitNanos = Math.min(timeoutNanos, Math.min(paidNanos, total().toNanos() + BODY_CREDIT.toNanos()));
    }
  }

  /** Begins the phase of an answer and of the next head. The connection is idle until bytes arrive. */
  void answers() {
    earlierNanos = 0;
    idle = true;
    inBody = false;
    limitNanos = timeoutNanos;
  }

  /**
   * Records that bytes have arrived. If the connection was idle until now, drops the idle time from the total, and
   * returns true.
   */
  boolean endsIdle() {
    if (!idle) {
      return false;
    }
    idle = false;
    originNanos = System.nanoTime();
    limitNanos = headNanos;
    return true;
  }

  /** Returns the total time of the waits in this phase if the connection waits for its client now, else zero. */
  Duration total() {
    return waits ? Duration.ofNanos(System.nanoTime() - originNanos) : Duration.ZERO;
  }

  /** Returns whether the connection has waited for its client longer than its limit, and this time more. */
  boolean isTooLong(Duration more) {
    return total().toNanos() > limitNanos + more.toNanos();
  }

  /** Returns whether the connection waits for its client now. */
  boolean waits() {
    return waits;
  }

  void enter() {
    originNanos = System.nanoTime() - earlierNanos;
    waits = true;
  }

  void leave() {
    earlierNanos = System.nanoTime() - originNanos;
    waits = false;
  }
}
