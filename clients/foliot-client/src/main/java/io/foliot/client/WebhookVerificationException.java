package io.foliot.client;

/**
 * Thrown when a callback must not be trusted. {@link #reason} returns the rule that the callback breaks. Answer the
 * callback with the status 401.
 */
public final class WebhookVerificationException extends Exception {
  /** The rule that was broken. */
  public enum Reason {
    /** A header that the verification needs is missing or malformed. */
    BAD_HEADER,
    /** The timestamp is further in the past than the tolerance: the message is old, and perhaps a replay. */
    TOO_OLD,
    /** The timestamp is further in the future than the tolerance: one of the two clocks is wrong. */
    TOO_NEW,
    /** No signature matches any secret: the sender or secret is wrong, or the body has changed since the signing. */
    NO_MATCH
  }

  private final Reason reason;

  WebhookVerificationException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /** Returns the rule that was broken. */
  public Reason reason() {
    return reason;
  }
}
