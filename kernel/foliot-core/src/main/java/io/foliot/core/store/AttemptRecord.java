package io.foliot.core.store;

/**
 * An attempt that has ended.
 *
 * @param generation the generation of the task
 * @param attempt the number of the attempt within the generation, from 1
 * @param begunAt when the attempt began, in milliseconds since 1970
 * @param endedAt when the end of the attempt was recorded, or the end of its lease if no end was recorded; in
 *     milliseconds since 1970
 * @param end how the attempt ended
 * @param detail the receiver's message, cut to {@link #MAX_DETAIL} characters; may be empty. It may begin with an
 *     {@link AttemptMaker}
 */
public record AttemptRecord(long generation, int attempt, long begunAt, long endedAt, End end, String detail) {
  /** Maximum number of attempts that a task keeps. */
  public static final int KEPT = 16;
  /** Maximum number of characters of detail that are kept. */
  public static final int MAX_DETAIL = 256;

  public AttemptRecord {
    detail = cut(detail);
  }

  /** Returns a detail with at most {@link #MAX_DETAIL} characters after its maker. */
  public static String cut(String detail) {
    int most = AttemptMaker.length(detail) + MAX_DETAIL;
    return detail.length() > most ? detail.substring(0, most) : detail;
  }

  /** Returns who made this attempt. */
  public AttemptMaker maker() {
    return AttemptMaker.of(detail);
  }

  /** Returns the receiver's message; may be empty. */
  public String message() {
    return detail.substring(AttemptMaker.length(detail));
  }

  /** The end of an attempt. Stores write the codes that {@link io.foliot.core.store.format.EnumCodes} gives. */
  public enum End {
    /** The attempt succeeded. */
    FINISHED,
    /** The attempt failed, and another attempt was to follow. */
    RETRIED,
    /** The attempt failed, and no other attempt was to follow. */
    FAILED,
    /** The attempt succeeded, and the task was to fire again. */
    REARMED,
    /** The lease ended before an end of the attempt was recorded; the result of the attempt is unknown. */
    LEASE_ENDED,
    /** The attempt did not begin, and does not count; the next attempt has the same number. */
    NOT_BEGUN
  }
}
