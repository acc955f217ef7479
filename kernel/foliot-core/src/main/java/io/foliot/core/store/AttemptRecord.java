package io.foliot.core.store;

/**
 * An attempt that has ended.
 *
 * @param generation the generation that it attempted
 * @param attempt its number within the generation, from 1
 * @param begunAt when it began, in milliseconds since 1970
 * @param endedAt when its end was recorded, or the end of its lease if none was recorded
 * @param end how it ended
 * @param detail the receiver's message
 */
public record AttemptRecord(long generation, int attempt, long begunAt, long endedAt, End end, String detail) {
  /** Most attempts that a task keeps. */
  public static final int KEPT = 16;
  /** Most characters of detail that are kept. */
  public static final int MAX_DETAIL = 256;

  public AttemptRecord {
    if (detail.length() > MAX_DETAIL) {
      detail = detail.substring(0, MAX_DETAIL);
    }
  }

  /** The end of an attempt. Stores write the ordinals: never reorder. */
  public enum End {
    /** It succeeded. */
    FINISHED,
    /** It failed, and another attempt was to follow. */
    RETRIED,
    /** It failed permanently. */
    FAILED,
    /** It succeeded and fires again. */
    REARMED,
    /** Its lease ended before its end was recorded; its result is unknown. */
    LEASE_ENDED
  }
}
