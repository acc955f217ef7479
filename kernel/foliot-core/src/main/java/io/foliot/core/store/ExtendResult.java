package io.foliot.core.store;

/**
 * The result of an extension.
 *
 * @param kind the effect of the call
 * @param leaseEnd the new end of the lease, in milliseconds since 1970; 0 if the extension was refused
 */
public record ExtendResult(Kind kind, long leaseEnd) {
  /** The effect of the call. */
  public enum Kind {
    /**
     * The lease holds until the new end, which may be earlier than requested: the queue limits how long an attempt may
     * run.
     */
    EXTENDED,
    /** Refused: a cancel is pending until the attempt ends. */
    CANCELLED,
    /** Refused: the claim is not valid, or its lease has ended. */
    STALE,
    /** Refused: there is no such task. */
    NOT_FOUND
  }
}
