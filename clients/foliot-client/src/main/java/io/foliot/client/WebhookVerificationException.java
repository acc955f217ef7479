package io.foliot.client;

/**
 * A callback must not be trusted: it is not from the server, was changed, or is too far from the current time. Answer
 * it with 401.
 */
public final class WebhookVerificationException extends Exception {
  /** The rule that was broken. */
  public enum Reason {
    /** A header that the signature needs is missing or malformed. */
    BAD_HEADER,
    /** The timestamp is further in the past than the tolerance: an old message, perhaps a replay. */
    TOO_OLD,
    /** The timestamp is further in the future than the tolerance: one of the two clocks is wrong. */
    TOO_NEW,
    /** No signature matches any secret: another sender, another secret, or the body has changed since it was signed. */
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
