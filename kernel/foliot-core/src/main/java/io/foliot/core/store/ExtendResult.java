package io.foliot.core.store;

/**
 * The result of an extension.
 *
 * @param kind the effect of the call
 * @param leaseEnd the end of the lease, in milliseconds since 1970; 0 if the claim is not valid or its lease has ended.
 *     The answer 0 is final: no extension of this claim has an effect after it
 */
public record ExtendResult(Kind kind, long leaseEnd) {
  /** The effect of the call. */
  public enum Kind {
    /**
     * The lease ends at the new end, which may be earlier than requested because the queue limits how long an attempt
     * may run.
     */
    EXTENDED,
    /** The extension was refused, because a cancel is pending until the attempt ends. */
    CANCELLED,
    /** The extension was refused, because the claim is not valid or its lease has ended. */
    STALE,
    /** The extension was refused, because there is no such task. */
    NOT_FOUND
  }
}
